-- As in the third.

-- +goose Up
-- Accepted: the follow began by its target's accepting a request.
SET @alter_following = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE following ADD COLUMN accepted TINYINT NOT NULL DEFAULT 0')
  FROM information_schema.COLUMNS
  WHERE table_schema = DATABASE() AND table_name = 'following' AND column_name = 'accepted');
PREPARE alter_following FROM @alter_following;
EXECUTE alter_following;
DEALLOCATE PREPARE alter_following;

-- A person's notifications as a whole; whoever changes one of them holds this row. Nothing that
-- began at floor or before is told any more.
CREATE TABLE IF NOT EXISTS notification_list (
  user_id      BIGINT NOT NULL PRIMARY KEY,
  version      BIGINT NOT NULL DEFAULT 0,
  line_count   BIGINT NOT NULL DEFAULT 0,
  floor        BIGINT NOT NULL DEFAULT 0,
  read_version BIGINT NOT NULL DEFAULT 0,
  read_up_to   BIGINT NOT NULL DEFAULT 0,
  KEY notification_long (line_count)
) ENGINE = InnoDB;

-- Open is 0 until the line is read, then its id: so there is one unread line of a thing.
-- Shown: somebody is behind it who is to be seen. Updated_at is since when the newest of them
-- is; 0 of a line that is being dropped.
CREATE TABLE IF NOT EXISTS notification (
  user_id     BIGINT NOT NULL,
  id          BIGINT NOT NULL,
  kind        TINYINT NOT NULL,
  subject     BIGINT NOT NULL,
  open        BIGINT NOT NULL,
  actor_count BIGINT NOT NULL,
  shown       TINYINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  grown       BIGINT NOT NULL,
  version     BIGINT NOT NULL,
  PRIMARY KEY (user_id, id),
  UNIQUE KEY notification_open (user_id, kind, subject, open),
  KEY notification_shown (user_id, shown, updated_at, id, open),
  KEY notification_old (updated_at)
) ENGINE = InnoDB;

-- Who is behind which line; of one thing each person is behind one line.
CREATE TABLE IF NOT EXISTS notification_actor (
  user_id         BIGINT NOT NULL,
  kind            TINYINT NOT NULL,
  subject         BIGINT NOT NULL,
  actor_id        BIGINT NOT NULL,
  notification_id BIGINT NOT NULL,
  since           BIGINT NOT NULL,
  hidden          TINYINT NOT NULL,
  PRIMARY KEY (user_id, kind, subject, actor_id),
  KEY notification_newest (user_id, notification_id, hidden, since, actor_id),
  KEY notification_by (actor_id, kind, user_id, subject)
) ENGINE = InnoDB;

-- +goose Down
DROP TABLE notification_actor, notification, notification_list;
ALTER TABLE following DROP COLUMN accepted;
