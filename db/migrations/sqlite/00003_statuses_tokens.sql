-- +goose Up
ALTER TABLE user ADD COLUMN token_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN is_private INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN status INTEGER NOT NULL DEFAULT 0;

-- Tokens that are refused before they expire: the one named, or, where jti is empty, all
-- of the person's below the version. Until: by then all of them have expired.
CREATE TABLE revoked (
  -- AUTOINCREMENT: whoever reads on from an id misses none.
  id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL,
  jti     TEXT NOT NULL,
  version INTEGER NOT NULL,
  until   INTEGER NOT NULL
) STRICT;
CREATE INDEX revoked_token ON revoked (user_id, jti);
CREATE INDEX revoked_until ON revoked (until);

-- People whose edges are to be made to match their status, since when by the store's clock.
CREATE TABLE settling (
  user_id INTEGER NOT NULL PRIMARY KEY,
  since   INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE settling;
DROP TABLE revoked;
ALTER TABLE user DROP COLUMN status;
ALTER TABLE user DROP COLUMN is_private;
ALTER TABLE user DROP COLUMN token_version;
