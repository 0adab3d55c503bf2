package db_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

func putKeys(t testing.TB, d *db.DB, keys ...*db.PublishKey) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		for _, k := range keys {
			if err := tx.PutPublishKey(ctx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func key(user social.ID, text string, blog social.ID, at social.Millis) *db.PublishKey {
	return &db.PublishKey{UserID: user, Key: text, BlogID: blog, BodyHash: bytes.Repeat([]byte{byte(blog), 0}, 16), CreatedAt: at}
}

// Keys are bytes: case, blanks at the end and forms of one letter make another key.
func TestPublishKeysAreByteExact(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		texts := []string{"a", "a ", "A", " a", "a  ", "á", "a\u0301", "", strings.Repeat(wide, 100), "a'\\\"%_"}
		for i, text := range texts {
			putKeys(t, s.DB, key(1, text, social.ID(i+1), 5))
		}
		for i, text := range texts {
			got, err := s.DB.PublishKeyOf(t.Context(), 1, text)
			noError(t, err)
			equal(t, "key "+text, *got, *key(1, text, social.ID(i+1), 5))
		}
		_, err := s.DB.PublishKeyOf(t.Context(), 2, "a")
		hasCode(t, err, social.NotFound)
		_, err = s.DB.PublishKeyOf(t.Context(), 1, "b")
		hasCode(t, err, social.NotFound)
	})
}

func TestPublishKeyIsReplacedWhenUsedAnew(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putKeys(t, s.DB, key(1, "k", 10, 100), key(2, "k", 30, 100), key(1, "k", 20, 200))
		got, err := s.DB.PublishKeyOf(t.Context(), 1, "k")
		noError(t, err)
		equal(t, "key", *got, *key(1, "k", 20, 200))
		got, err = s.DB.PublishKeyOf(t.Context(), 2, "k")
		noError(t, err)
		equal(t, "that of another", *got, *key(2, "k", 30, 100))
		equal(t, "rows", s.Int(t, "SELECT COUNT(*) FROM publish_key"), 2)
	})
}

func trimKeys(t testing.TB, d *db.DB, before social.Millis) (more bool) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) (err error) {
		more, err = tx.TrimPublishKeys(ctx, before)
		return err
	})
	return more
}

func TestOnlyOldPublishKeysAreTrimmed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putKeys(t, s.DB, key(1, "old", 1, 99), key(1, "just not", 2, 100), key(1, "new", 3, 101),
			key(2, "again", 4, 50), key(2, "again", 5, 150))
		equal(t, "more", trimKeys(t, s.DB, 100), false)
		for text, user := range map[string]social.ID{"just not": 1, "new": 1, "again": 2} {
			_, err := s.DB.PublishKeyOf(t.Context(), user, text)
			noError(t, err)
		}
		_, err := s.DB.PublishKeyOf(t.Context(), 1, "old")
		hasCode(t, err, social.NotFound)
	})
}

func TestPublishKeysAreTrimmedInPieces(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var rows []string
		for i := range db.TrimPiece + 1 {
			rows = append(rows, "(1, "+quoteNumber(i)+", 1, x'"+strings.Repeat("00", 32)+"', "+strconv.Itoa(i-5000)+")")
		}
		cast := strings.Join(rows, ",")
		s.Exec(t, "INSERT INTO publish_key (user_id, idempotency_key, blog_id, body_hash, created_at) VALUES "+cast)
		equal(t, "more after the first", trimKeys(t, s.DB, 100), true)
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM publish_key"), 1)
		equal(t, "more after the second", trimKeys(t, s.DB, 100), false)
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM publish_key"), 0)
	})
}
