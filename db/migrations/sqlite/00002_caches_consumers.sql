-- +goose Up
-- Whether a partition of Redis may be believed, and since which of its lives.
CREATE TABLE cache_state (
  part  INTEGER NOT NULL PRIMARY KEY,
  epoch INTEGER NOT NULL,
  is_on INTEGER NOT NULL
) STRICT;

INSERT INTO cache_state (part, epoch, is_on) VALUES
  (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0),
  (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0),
  (16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (23, 0, 0),
  (24, 0, 0), (25, 0, 0), (26, 0, 0), (27, 0, 0), (28, 0, 0), (29, 0, 0), (30, 0, 0), (31, 0, 0),
  (32, 0, 0), (33, 0, 0), (34, 0, 0), (35, 0, 0), (36, 0, 0), (37, 0, 0), (38, 0, 0), (39, 0, 0),
  (40, 0, 0), (41, 0, 0), (42, 0, 0), (43, 0, 0), (44, 0, 0), (45, 0, 0), (46, 0, 0), (47, 0, 0),
  (48, 0, 0), (49, 0, 0), (50, 0, 0), (51, 0, 0), (52, 0, 0), (53, 0, 0), (54, 0, 0), (55, 0, 0),
  (56, 0, 0), (57, 0, 0), (58, 0, 0), (59, 0, 0), (60, 0, 0), (61, 0, 0), (62, 0, 0), (63, 0, 0);

-- How far a consumer of events is in a lane, and who works on it until when.
CREATE TABLE consumed (
  consumer   TEXT NOT NULL,
  lane       INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  holder     TEXT NOT NULL,
  held_until INTEGER NOT NULL,
  PRIMARY KEY (consumer, lane)
) STRICT, WITHOUT ROWID;

-- Events that a consumer could not take, whole: the outbox drops its own.
CREATE TABLE dead_letter (
  -- AUTOINCREMENT: the number of one that was dropped never becomes another's.
  id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  consumer   TEXT NOT NULL,
  lane       INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  body       TEXT NOT NULL,
  error      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (consumer, lane, seq)
) STRICT;

-- +goose Down
DROP TABLE dead_letter;
DROP TABLE consumed;
DROP TABLE cache_state;
