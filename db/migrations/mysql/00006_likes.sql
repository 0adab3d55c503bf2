-- As in the third.

-- +goose Up
SET @alter_actor = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE actor ADD COLUMN like_version BIGINT NOT NULL DEFAULT 0')
  FROM information_schema.COLUMNS
  WHERE table_schema = DATABASE() AND table_name = 'actor' AND column_name = 'like_version');
PREPARE alter_actor FROM @alter_actor;
EXECUTE alter_actor;
DEALLOCATE PREPARE alter_actor;

CREATE TABLE IF NOT EXISTS blog_like (
  user_id BIGINT NOT NULL,
  blog_id BIGINT NOT NULL,
  state   TINYINT NOT NULL,
  since   BIGINT NOT NULL,
  PRIMARY KEY (user_id, blog_id),
  KEY like_list (user_id, state, since, blog_id)
) ENGINE = InnoDB;

-- The same likes, seen from the blog.
CREATE TABLE IF NOT EXISTS blog_liker (
  blog_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  state   TINYINT NOT NULL,
  since   BIGINT NOT NULL,
  PRIMARY KEY (blog_id, user_id),
  KEY liker_list (blog_id, state, since, user_id)
) ENGINE = InnoDB;

-- Heat orders blogs by their likes, each of which counts half as much every six hours: see
-- db/heat.go. NULL where there are none.
CREATE TABLE IF NOT EXISTS blog_count (
  blog_id BIGINT NOT NULL PRIMARY KEY,
  likes   BIGINT NOT NULL,
  version BIGINT NOT NULL,
  heat    DOUBLE NULL,
  KEY blog_heat (heat)
) ENGINE = InnoDB;

-- The list of hot blogs as it was at times, so that its pages are of one moment.
CREATE TABLE IF NOT EXISTS hot_list (
  at    BIGINT NOT NULL PRIMARY KEY,
  blogs MEDIUMBLOB NOT NULL
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE hot_list, blog_count, blog_liker, blog_like;
ALTER TABLE actor DROP COLUMN like_version;
