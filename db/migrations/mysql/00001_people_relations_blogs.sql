-- MySQL commits every CREATE by itself: a migration that was cut off must run again.

-- +goose Up
CREATE TABLE IF NOT EXISTS user (
  id            BIGINT NOT NULL PRIMARY KEY,
  handle        VARCHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name          VARCHAR(50) NOT NULL,
  bio           VARCHAR(500) NOT NULL,
  avatar_url    VARCHAR(2048) NULL,
  password_hash VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  UNIQUE KEY user_handle (handle)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Locked by whoever changes an edge or like of this person.
CREATE TABLE IF NOT EXISTS actor (
  user_id       BIGINT NOT NULL PRIMARY KEY,
  graph_version BIGINT NOT NULL,
  following     BIGINT NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS user_count (
  user_id   BIGINT NOT NULL PRIMARY KEY,
  followers BIGINT NOT NULL,
  blogs     BIGINT NOT NULL,
  version   BIGINT NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS following (
  user_id   BIGINT NOT NULL,
  target_id BIGINT NOT NULL,
  state     TINYINT NOT NULL,
  since     BIGINT NOT NULL,
  PRIMARY KEY (user_id, target_id),
  KEY following_list (user_id, state, since, target_id)
) ENGINE = InnoDB;

-- The same edges, seen from the one who is followed.
CREATE TABLE IF NOT EXISTS follower (
  user_id     BIGINT NOT NULL,
  follower_id BIGINT NOT NULL,
  state       TINYINT NOT NULL,
  since       BIGINT NOT NULL,
  PRIMARY KEY (user_id, follower_id),
  KEY follower_list (user_id, state, since, follower_id)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS blog (
  id         BIGINT NOT NULL,
  author_id  BIGINT NOT NULL,
  status     TINYINT NOT NULL,
  title      VARCHAR(120) NOT NULL,
  content    TEXT NOT NULL,
  image_urls TEXT CHARACTER SET utf8mb4 NOT NULL,
  PRIMARY KEY (id) /*T![clustered_index] NONCLUSTERED */,
  KEY blog_author (author_id, status, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin /*T! SHARD_ROW_ID_BITS = 4 */;

CREATE TABLE IF NOT EXISTS publish_key (
  user_id    BIGINT NOT NULL,
  -- Bytes, since text columns take 'a' and 'a ' for the same key.
  idempotency_key VARBINARY(400) NOT NULL,
  blog_id         BIGINT NOT NULL,
  body_hash       BINARY(32) NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, idempotency_key),
  KEY publish_key_age (created_at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS outbox (
  lane       SMALLINT NOT NULL,
  seq        BIGINT NOT NULL,
  kind       VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body       MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (lane, seq) /*T![clustered_index] NONCLUSTERED */
) ENGINE = InnoDB /*T! SHARD_ROW_ID_BITS = 4 */;

CREATE TABLE IF NOT EXISTS lane (
  lane SMALLINT NOT NULL PRIMARY KEY,
  seq  BIGINT NOT NULL
) ENGINE = InnoDB;

INSERT IGNORE INTO lane (lane, seq) VALUES
  (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0),
  (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0), (14, 0), (15, 0);

CREATE TABLE IF NOT EXISTS node_lease (
  node       SMALLINT NOT NULL PRIMARY KEY,
  owner      CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_at BIGINT NOT NULL
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE node_lease, lane, outbox, publish_key, blog, follower, following, user_count, actor, user;
