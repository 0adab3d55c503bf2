-- +goose Up
ALTER TABLE actor ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
ALTER TABLE actor ADD COLUMN blocking INTEGER NOT NULL DEFAULT 0;
ALTER TABLE actor ADD COLUMN muting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user_count ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;

-- Whom a person does not want to see, and shall not see them. Ends by its removal.
CREATE TABLE block (
  user_id   INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  since     INTEGER NOT NULL,
  PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX block_list ON block (user_id, since, target_id);
CREATE INDEX block_target ON block (target_id, user_id);

-- Whose blogs a person keeps out of their feed.
CREATE TABLE mute (
  user_id   INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  since     INTEGER NOT NULL,
  PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mute_list ON mute (user_id, since, target_id);
CREATE INDEX mute_target ON mute (target_id, user_id);

-- +goose Down
DROP TABLE mute;
DROP TABLE block;
ALTER TABLE user_count DROP COLUMN requests;
ALTER TABLE actor DROP COLUMN muting;
ALTER TABLE actor DROP COLUMN blocking;
ALTER TABLE actor DROP COLUMN pending;
