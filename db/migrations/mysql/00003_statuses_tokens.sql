-- As in the first: a migration that was cut off must run again. MySQL and TiDB have no ADD
-- COLUMN IF NOT EXISTS, so whether the columns are there is asked; one ALTER adds all of
-- them or none.

-- +goose Up
SET @alter_user = (SELECT IF(COUNT(*) > 0, 'DO 0', CONCAT('ALTER TABLE user',
    ' ADD COLUMN token_version INT NOT NULL DEFAULT 0,',
    ' ADD COLUMN is_private TINYINT NOT NULL DEFAULT 0,',
    ' ADD COLUMN status TINYINT NOT NULL DEFAULT 0'))
  FROM information_schema.COLUMNS
  WHERE table_schema = DATABASE() AND table_name = 'user' AND column_name = 'token_version');
PREPARE alter_user FROM @alter_user;
EXECUTE alter_user;
DEALLOCATE PREPARE alter_user;

-- Tokens that are refused before they expire: the one named, or, where jti is empty, all
-- of the person's below the version. Until: by then all of them have expired.
CREATE TABLE IF NOT EXISTS revoked (
  id      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id BIGINT NOT NULL,
  jti     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version INT NOT NULL,
  until   BIGINT NOT NULL,
  KEY revoked_token (user_id, jti),
  KEY revoked_until (until)
) ENGINE = InnoDB;

-- People whose edges are to be made to match their status, since when by the store's clock.
CREATE TABLE IF NOT EXISTS settling (
  user_id BIGINT NOT NULL PRIMARY KEY,
  since   BIGINT NOT NULL
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE settling, revoked;
ALTER TABLE user DROP COLUMN status, DROP COLUMN is_private, DROP COLUMN token_version;
