package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kith/socialtest"
)

// on names the store of a command.
func on(s *socialtest.Store, args ...string) []string {
	if s.IsMySQL() {
		return append(args, "--mysql", s.Config.MySQL)
	}
	return append(args, "--data", filepath.Dir(s.Config.SQLite))
}

// putDeadLetters writes n, with ids from 1, of the consumer "fanout".
func putDeadLetters(t testing.TB, s *socialtest.Store, n int) {
	t.Helper()
	for i := range n {
		s.Exec(t, `INSERT INTO dead_letter (id, consumer, lane, seq, kind, body, error, created_at)
			VALUES (?, 'fanout', 0, ?, 'user', '{"user":"7"}', 'the reason
of many lines', 1700000000000)`, i+1, i+1)
	}
}

// fields are the lines of a table, one space between its columns.
func fields(table string) (lines []string) {
	for line := range strings.Lines(table) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

func TestEventsStatusTellsHowFarBehindConsumersAre(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		s.Exec(t, "UPDATE lane SET seq = 10")
		s.Exec(t, `INSERT INTO consumed (consumer, lane, position, holder, held_until)
			SELECT 'fanout', lane, 8, '', 0 FROM lane`)
		putDeadLetters(t, s, 3)
		code, out, errs := kith(t, on(s, "events", "status")...)
		want := fmt.Sprintf("CONSUMER BEHIND DEAD LETTERS|fanout %d 3", 2*s.DB.Lanes())
		if got := strings.Join(fields(out), "|"); code != 0 || got != want {
			t.Errorf("exit code %d: got %s, want %s%s", code, got, want, errs)
		}
	})
}

func TestDeadLettersAreListedReplayedAndDropped(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putDeadLetters(t, s, 6)
		code, out, errs := kith(t, on(s, "events", "dead", "list")...)
		lines := fields(out)
		if code != 0 || len(lines) != 7 || lines[6] != "6 fanout 0 6 user 2023-11-14T22:13:20Z the reason" {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		for _, c := range []struct {
			args         string
			code         int
			told         string
			left, events int64
		}{
			{"replay 2", 0, "1 replayed", 5, 1},
			{"replay 2 3 99", 1, "there is no dead letter 2\nthere is no dead letter 99", 4, 2},
			{"drop 99", 1, "there is no dead letter 99", 4, 2},
			{"drop 1 4", 0, "2 dropped", 2, 2},
			{"drop", 1, "--all", 2, 2},
			{"drop 5 --all", 1, "--all", 2, 2},
			{"replay --all", 0, "2 replayed", 0, 4},
			{"replay --all", 0, "0 replayed", 0, 4},
			{"drop --all", 0, "0 dropped", 0, 4},
		} {
			code, out, errs := kith(t, on(s, append([]string{"events", "dead"}, strings.Fields(c.args)...)...)...)
			if code != c.code || !strings.Contains(out+errs, c.told) {
				t.Errorf("%s: exit code %d: %s%s", c.args, code, out, errs)
			}
			if left := s.Int(t, "SELECT COUNT(*) FROM dead_letter"); left != c.left {
				t.Errorf("%s: %d dead letters left, want %d", c.args, left, c.left)
			}
			if events := s.Int(t, `SELECT COUNT(*) FROM outbox WHERE kind = 'user' AND body = '{"user":"7"}'`); events != c.events {
				t.Errorf("%s: %d events, want %d", c.args, events, c.events)
			}
		}
	})
}

func TestEventsCommandsNeedAStoreThatIsThere(t *testing.T) {
	t.Parallel()
	old := socialtest.NewMySQL(t)
	old.Exec(t, "DELETE FROM goose_db_version WHERE version_id > 1")
	for reason, args := range map[string][]string{
		"no embedded store": {"events", "status", "--data", t.TempDir()},
		"run kith migrate":  on(old, "events", "dead", "list"),
	} {
		if code, _, errs := kith(t, args...); code != 1 || !strings.Contains(errs, reason) {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
}

// An embedded store is held by its server; dead letters are dealt with all the same.
func TestDeadLettersAreReplayedBesideARunningServer(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	putDeadLetters(t, s, 1)
	startProcess(t, on(s, "serve")...)
	if code, out, errs := kith(t, on(s, "events", "dead", "replay", "1")...); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
