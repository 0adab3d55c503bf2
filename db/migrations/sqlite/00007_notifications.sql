-- +goose Up
-- Accepted: the follow began by its target's accepting a request.
ALTER TABLE following ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;

-- A person's notifications as a whole; whoever changes one of them holds this row. Nothing that
-- began at floor or before is told any more.
CREATE TABLE notification_list (
  user_id      INTEGER NOT NULL PRIMARY KEY,
  version      INTEGER NOT NULL DEFAULT 0,
  line_count   INTEGER NOT NULL DEFAULT 0,
  floor        INTEGER NOT NULL DEFAULT 0,
  read_version INTEGER NOT NULL DEFAULT 0,
  read_up_to   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX notification_long ON notification_list (line_count);

-- Open is 0 until the line is read, then its id: so there is one unread line of a thing.
-- Shown: somebody is behind it who is to be seen. Updated_at is since when the newest of them
-- is; 0 of a line that is being dropped.
CREATE TABLE notification (
  user_id     INTEGER NOT NULL,
  id          INTEGER NOT NULL,
  kind        INTEGER NOT NULL,
  subject     INTEGER NOT NULL,
  open        INTEGER NOT NULL,
  actor_count INTEGER NOT NULL,
  shown       INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  grown       INTEGER NOT NULL,
  version     INTEGER NOT NULL,
  PRIMARY KEY (user_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX notification_open ON notification (user_id, kind, subject, open);
CREATE INDEX notification_shown ON notification (user_id, shown, updated_at, id, open);
CREATE INDEX notification_old ON notification (updated_at);

-- Who is behind which line; of one thing each person is behind one line.
CREATE TABLE notification_actor (
  user_id         INTEGER NOT NULL,
  kind            INTEGER NOT NULL,
  subject         INTEGER NOT NULL,
  actor_id        INTEGER NOT NULL,
  notification_id INTEGER NOT NULL,
  since           INTEGER NOT NULL,
  hidden          INTEGER NOT NULL,
  PRIMARY KEY (user_id, kind, subject, actor_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_newest ON notification_actor (user_id, notification_id, hidden, since, actor_id);
CREATE INDEX notification_by ON notification_actor (actor_id, kind, user_id, subject);

-- +goose Down
DROP TABLE notification_actor;
DROP TABLE notification;
DROP TABLE notification_list;
ALTER TABLE following DROP COLUMN accepted;
