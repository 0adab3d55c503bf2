-- As in the third. Column and index apart, since TiDB does not add both in one statement.

-- +goose Up
SET @alter_user = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE user ADD COLUMN star_since BIGINT NULL')
  FROM information_schema.COLUMNS
  WHERE table_schema = DATABASE() AND table_name = 'user' AND column_name = 'star_since');
PREPARE alter_user FROM @alter_user;
EXECUTE alter_user;
DEALLOCATE PREPARE alter_user;

SET @index_user = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE user ADD KEY user_star (star_since)')
  FROM information_schema.STATISTICS
  WHERE table_schema = DATABASE() AND table_name = 'user' AND index_name = 'user_star');
PREPARE index_user FROM @index_user;
EXECUTE index_user;
DEALLOCATE PREPARE index_user;

-- +goose Down
ALTER TABLE user DROP KEY user_star;
ALTER TABLE user DROP COLUMN star_since;
