-- +goose Up
ALTER TABLE actor ADD COLUMN like_version INTEGER NOT NULL DEFAULT 0;

CREATE TABLE blog_like (
  user_id INTEGER NOT NULL,
  blog_id INTEGER NOT NULL,
  state   INTEGER NOT NULL,
  since   INTEGER NOT NULL,
  PRIMARY KEY (user_id, blog_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX like_list ON blog_like (user_id, state, since, blog_id);

-- The same likes, seen from the blog.
CREATE TABLE blog_liker (
  blog_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  state   INTEGER NOT NULL,
  since   INTEGER NOT NULL,
  PRIMARY KEY (blog_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX liker_list ON blog_liker (blog_id, state, since, user_id);

-- Heat orders blogs by their likes, each of which counts half as much every six hours: see
-- db/heat.go. NULL where there are none.
CREATE TABLE blog_count (
  blog_id INTEGER NOT NULL PRIMARY KEY,
  likes   INTEGER NOT NULL,
  version INTEGER NOT NULL,
  heat    REAL
) STRICT;
CREATE INDEX blog_heat ON blog_count (heat);

-- The list of hot blogs as it was at times, so that its pages are of one moment.
CREATE TABLE hot_list (
  at    INTEGER NOT NULL PRIMARY KEY,
  blogs BLOB NOT NULL
) STRICT;

-- +goose Down
DROP TABLE hot_list;
DROP TABLE blog_count;
DROP TABLE blog_liker;
DROP TABLE blog_like;
ALTER TABLE actor DROP COLUMN like_version;
