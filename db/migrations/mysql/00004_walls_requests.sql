-- As in the third.

-- +goose Up
SET @alter_actor = (SELECT IF(COUNT(*) > 0, 'DO 0', CONCAT('ALTER TABLE actor',
    ' ADD COLUMN pending BIGINT NOT NULL DEFAULT 0,',
    ' ADD COLUMN blocking BIGINT NOT NULL DEFAULT 0,',
    ' ADD COLUMN muting BIGINT NOT NULL DEFAULT 0'))
  FROM information_schema.COLUMNS
  WHERE table_schema = DATABASE() AND table_name = 'actor' AND column_name = 'pending');
PREPARE alter_actor FROM @alter_actor;
EXECUTE alter_actor;
DEALLOCATE PREPARE alter_actor;

SET @alter_count = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE user_count ADD COLUMN requests BIGINT NOT NULL DEFAULT 0')
  FROM information_schema.COLUMNS
  WHERE table_schema = DATABASE() AND table_name = 'user_count' AND column_name = 'requests');
PREPARE alter_count FROM @alter_count;
EXECUTE alter_count;
DEALLOCATE PREPARE alter_count;

-- Whom a person does not want to see, and shall not see them. Ends by its removal.
CREATE TABLE IF NOT EXISTS block (
  user_id   BIGINT NOT NULL,
  target_id BIGINT NOT NULL,
  since     BIGINT NOT NULL,
  PRIMARY KEY (user_id, target_id),
  KEY block_list (user_id, since, target_id),
  KEY block_target (target_id, user_id)
) ENGINE = InnoDB;

-- Whose blogs a person keeps out of their feed.
CREATE TABLE IF NOT EXISTS mute (
  user_id   BIGINT NOT NULL,
  target_id BIGINT NOT NULL,
  since     BIGINT NOT NULL,
  PRIMARY KEY (user_id, target_id),
  KEY mute_list (user_id, since, target_id),
  KEY mute_target (target_id, user_id)
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE mute, block;
ALTER TABLE user_count DROP COLUMN requests;
ALTER TABLE actor DROP COLUMN muting, DROP COLUMN blocking, DROP COLUMN pending;
