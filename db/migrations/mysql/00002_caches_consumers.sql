-- As in the first: a migration that was cut off must run again.

-- +goose Up
-- Whether a partition of Redis may be believed, and since which of its lives.
CREATE TABLE IF NOT EXISTS cache_state (
  part  SMALLINT NOT NULL PRIMARY KEY,
  epoch BIGINT NOT NULL,
  is_on TINYINT NOT NULL
) ENGINE = InnoDB;

INSERT IGNORE INTO cache_state (part, epoch, is_on) VALUES
  (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0),
  (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0),
  (16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (23, 0, 0),
  (24, 0, 0), (25, 0, 0), (26, 0, 0), (27, 0, 0), (28, 0, 0), (29, 0, 0), (30, 0, 0), (31, 0, 0),
  (32, 0, 0), (33, 0, 0), (34, 0, 0), (35, 0, 0), (36, 0, 0), (37, 0, 0), (38, 0, 0), (39, 0, 0),
  (40, 0, 0), (41, 0, 0), (42, 0, 0), (43, 0, 0), (44, 0, 0), (45, 0, 0), (46, 0, 0), (47, 0, 0),
  (48, 0, 0), (49, 0, 0), (50, 0, 0), (51, 0, 0), (52, 0, 0), (53, 0, 0), (54, 0, 0), (55, 0, 0),
  (56, 0, 0), (57, 0, 0), (58, 0, 0), (59, 0, 0), (60, 0, 0), (61, 0, 0), (62, 0, 0), (63, 0, 0);

-- How far a consumer of events is in a lane, and who works on it until when.
CREATE TABLE IF NOT EXISTS consumed (
  consumer   VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  lane       SMALLINT NOT NULL,
  position   BIGINT NOT NULL,
  holder     CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  held_until BIGINT NOT NULL,
  PRIMARY KEY (consumer, lane)
) ENGINE = InnoDB;

-- Events that a consumer could not take, whole: the outbox drops its own.
CREATE TABLE IF NOT EXISTS dead_letter (
  id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  consumer   VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  lane       SMALLINT NOT NULL,
  seq        BIGINT NOT NULL,
  kind       VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body       MEDIUMTEXT NOT NULL,
  error      VARCHAR(1000) NOT NULL,
  created_at BIGINT NOT NULL,
  UNIQUE KEY dead_letter_event (consumer, lane, seq)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE dead_letter, consumed, cache_state;
