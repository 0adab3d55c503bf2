-- +goose Up
ALTER TABLE user ADD COLUMN star_since INTEGER;
CREATE INDEX user_star ON user (star_since) WHERE star_since IS NOT NULL;

-- +goose Down
DROP INDEX user_star;
ALTER TABLE user DROP COLUMN star_since;
