-- +goose Up
CREATE TABLE user (
  id            INTEGER NOT NULL PRIMARY KEY,
  handle        TEXT NOT NULL UNIQUE,
  name          TEXT NOT NULL,
  bio           TEXT NOT NULL,
  avatar_url    TEXT NULL,
  password_hash TEXT NOT NULL
) STRICT;

-- Locked by whoever changes an edge or like of this person.
CREATE TABLE actor (
  user_id       INTEGER NOT NULL PRIMARY KEY,
  graph_version INTEGER NOT NULL,
  following     INTEGER NOT NULL
) STRICT;

CREATE TABLE user_count (
  user_id   INTEGER NOT NULL PRIMARY KEY,
  followers INTEGER NOT NULL,
  blogs     INTEGER NOT NULL,
  version   INTEGER NOT NULL
) STRICT;

CREATE TABLE following (
  user_id   INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  state     INTEGER NOT NULL,
  since     INTEGER NOT NULL,
  PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX following_list ON following (user_id, state, since, target_id);

-- The same edges, seen from the one who is followed.
CREATE TABLE follower (
  user_id     INTEGER NOT NULL,
  follower_id INTEGER NOT NULL,
  state       INTEGER NOT NULL,
  since       INTEGER NOT NULL,
  PRIMARY KEY (user_id, follower_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX follower_list ON follower (user_id, state, since, follower_id);

CREATE TABLE blog (
  id         INTEGER NOT NULL PRIMARY KEY,
  author_id  INTEGER NOT NULL,
  status     INTEGER NOT NULL,
  title      TEXT NOT NULL,
  content    TEXT NOT NULL,
  image_urls TEXT NOT NULL
) STRICT;
CREATE INDEX blog_author ON blog (author_id, status, id);

CREATE TABLE publish_key (
  user_id         INTEGER NOT NULL,
  idempotency_key BLOB NOT NULL,
  blog_id         INTEGER NOT NULL,
  body_hash       BLOB NOT NULL,
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (user_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX publish_key_age ON publish_key (created_at);

CREATE TABLE outbox (
  lane       INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  body       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (lane, seq)
) STRICT, WITHOUT ROWID;

-- One lane: SQLite has one writer at a time.
CREATE TABLE lane (
  lane INTEGER NOT NULL PRIMARY KEY,
  seq  INTEGER NOT NULL
) STRICT;

INSERT INTO lane (lane, seq) VALUES (0, 0);

CREATE TABLE node_lease (
  node       INTEGER NOT NULL PRIMARY KEY,
  owner      TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE node_lease;
DROP TABLE lane;
DROP TABLE outbox;
DROP TABLE publish_key;
DROP TABLE blog;
DROP TABLE follower;
DROP TABLE following;
DROP TABLE user_count;
DROP TABLE actor;
DROP TABLE user;
