package db_test

import (
	"context"
	"fmt"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// Person 1 has 1,000 lines that show somebody, all of one millisecond, of which 100 are not read,
// and 1,000 later ones that show nobody; behind one of them are 100,000 people.
const (
	lineRows   = 1000
	lineUnread = 100
	lineActors = 100_000
	lineMoment = 1_700_000_000_000
)

func writeManyNotifications(t testing.TB, s *socialtest.Store) {
	t.Helper()
	s.Exec(t, `INSERT INTO notification_list (user_id, version, line_count) VALUES (1, 9, 2000), (2, 9, 1001)`)
	s.Exec(t, fmt.Sprintf(`INSERT INTO notification (user_id, id, kind, subject, open, actor_count, shown, updated_at, grown, version)
		SELECT 1, seq, 4, seq, IF(seq > %d, 0, seq), 1, 1, %d, 5, 5 FROM seq_1_to_%d`, lineRows-lineUnread, lineMoment, lineRows))
	s.Exec(t, fmt.Sprintf(`INSERT INTO notification (user_id, id, kind, subject, open, actor_count, shown, updated_at, grown, version)
		SELECT 1, %d + seq, 4, %[1]d + seq, 0, 0, 0, %d, 5, 5 FROM seq_1_to_%[1]d`, lineRows, 2*lineMoment))
	s.Exec(t, fmt.Sprintf(`INSERT INTO notification_actor (user_id, kind, subject, actor_id, notification_id, since, hidden)
		SELECT 1, 4, 7, seq, 7, %d + seq DIV 10, seq %% 2 FROM seq_1_to_%d`, lineMoment, lineActors))
	s.Exec(t, fmt.Sprintf(`INSERT INTO notification_actor (user_id, kind, subject, actor_id, notification_id, since, hidden)
		SELECT 1, 4, seq, 7, seq, %d, 0 FROM seq_8_to_%d`, lineMoment, lineRows))
	s.Exec(t, "ANALYZE TABLE notification, notification_list, notification_actor")
}

// Among as many that show nobody, at the head and far behind it, a page of notifications, those
// who are behind its lines, and what is unread touch little more than they give.
func TestReadingsOfNotificationsReadNoMoreThanThemselves(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		writeManyNotifications(t, s)
		const size = 20
		reads := func(what string, most int, read func(ctx context.Context, tx *db.Tx) error) {
			t.Helper()
			if n := rowsRead(t, s.DB, read); n > most {
				t.Errorf("%s read %d rows, want at most %d", what, n, most)
			}
		}
		var lines []*social.Notification
		for _, first := range []social.ID{lineRows, lineRows / 2, size + 7} {
			p := social.Page{Limit: size}
			if first < lineRows {
				p.From = social.Cursor{MinTime: lineMoment, ID: first + 1}
			}
			// From the index, and from what it gives, and the list.
			reads(fmt.Sprint("a page from ", first), 2*(size+1)+4, func(ctx context.Context, tx *db.Tx) error {
				version, found, err := tx.Notifications(ctx, social.Listing{Owner: 1, Page: p})
				lines = found
				equal(t, "page", fmt.Sprint(version, len(lines), lines[0].ID), fmt.Sprint(9, size+1, first))
				return err
			})
		}
		// Each through a table of its own, and that of all.
		reads("who is behind a page", 4*(size+1+2)+4, func(ctx context.Context, tx *db.Tx) error {
			newest, err := tx.NewestActors(ctx, lines, 3)
			equal(t, "lines", len(newest), size+1)
			equal(t, "the newest of many", fmt.Sprint(newest[lines[size]]), fmt.Sprint([]social.Peer{
				{ID: 100_000, Since: lineMoment + 10_000}, {ID: 99_998, Since: lineMoment + 9999}, {ID: 99_996, Since: lineMoment + 9999},
			}))
			return err
		})
		reads("the unread count", lineRows+2, func(ctx context.Context, tx *db.Tx) error {
			n, err := tx.UnreadCounts(ctx, []social.ID{1})
			equal(t, "unread", n[1], lineUnread)
			return err
		})
		reads("what is new", 2, func(ctx context.Context, tx *db.Tx) error {
			news, err := tx.NotificationsSince(ctx, 3, 8)
			equal(t, "news of nobody", fmt.Sprint(news.Version, len(news.Lines)), "0 0")
			return err
		})
	})
}

// What the making of lines looks up, and what trimming does, touch what they look for, among
// 100,000 people behind a line, and as many lists.
func TestMakingAndTrimmingReadWhatTheyLookFor(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		writeManyNotifications(t, s)
		s.Exec(t, fmt.Sprintf(`INSERT INTO notification_list (user_id, version, line_count) SELECT 100 + seq, 9, IF(seq %% 500, 3, 1500) FROM seq_1_to_%d`, lineActors))
		s.Exec(t, "UPDATE notification SET updated_at = 0 WHERE user_id = 1 AND id <= 200")
		s.Exec(t, "ANALYZE TABLE notification, notification_list")
		var causes []db.NotificationCause
		var subjects []social.NotificationSubject
		for i := range social.ID(db.MaxIn) {
			of := social.NotificationSubject{UserID: 1, Kind: social.BlogLiked, Subject: 7}
			causes = append(causes, db.NotificationCause{NotificationSubject: of, ActorID: 100*i + 1})
			of.Subject = lineRows + 1 + i
			subjects = append(subjects, of)
		}
		for _, c := range []struct {
			what string
			most int
			read func(ctx context.Context, tx *db.Tx) (n int, err error)
		}{
			{"900 of those behind", 4 * db.MaxIn, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.NotificationActors(ctx, causes)
				return len(found) - db.MaxIn, err
			}},
			{"900 open lines", 6 * db.MaxIn, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.UnreadNotifications(ctx, subjects)
				return len(found) - db.MaxIn, err
			}},
			{"the next behind a subject", 902, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.CausesAfter(ctx, causes[0].NotificationSubject, 5000, 900)
				return len(found) - 900 + int(found[0].Subject) - 7, err
			}},
			{"what somebody likes", 902, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.LikedCauses(ctx, social.Pair{UserID: 1, TargetID: 7}, 0, 900)
				return len(found) - 900 + int(found[0].Subject) - 7, err
			}},
			{"those behind lines", 1002, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.CausesOf(ctx, 1, seq(7, 106), 900)
				return len(found) - 900, err
			}},
			{"those to drop", 4 * db.MaxIn, func(ctx context.Context, tx *db.Tx) (int, error) {
				return 0, tx.DropNotificationActors(ctx, causes)
			}},
			{"long lists", 1000, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.LongNotificationLists(ctx, 1000, 50_000, 100)
				return len(found) - 100, err
			}},
			{"lines beyond the newest", 1202, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.NotificationsBeyond(ctx, 1, true, 500, 100)
				return len(found) - 100, err
			}},
			{"old lines", 202, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.NotificationsBefore(ctx, 1000, 100)
				return len(found) - 100, err
			}},
			{"news", 2*lineRows + 4, func(ctx context.Context, tx *db.Tx) (int, error) {
				_, err := tx.NotificationsSince(ctx, 1, 8)
				return 0, err
			}},
			{"what is to be read", 2*lineRows + 4, func(ctx context.Context, tx *db.Tx) (int, error) {
				found, err := tx.UnreadUpTo(ctx, 1, social.Cursor{})
				return len(found) - lineUnread, err
			}},
		} {
			if n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				off, err := c.read(ctx, tx)
				equal(t, c.what, off, 0)
				return err
			}); n > c.most {
				t.Errorf("%s read %d rows, want at most %d", c.what, n, c.most)
			}
		}
	})
}
