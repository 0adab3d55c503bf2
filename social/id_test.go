package social_test

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"kith/social"
)

// DAT-1 of the cases: ids beyond 2^53 that a double would round.
var longIDs = []social.ID{1, 653247040368672769, 653247040368672768, 9007199254740993, math.MaxInt64}

func TestGlobalIDComesBackDigitForDigit(t *testing.T) {
	t.Parallel()
	for _, id := range longIDs {
		for _, node := range []social.NodeType{social.UserNode, social.BlogNode} {
			s := social.GlobalID(node, id)
			raw, _ := base64.StdEncoding.DecodeString(s)
			if want := string(node) + ":" + strconv.FormatInt(int64(id), 10); string(raw) != want {
				t.Errorf("%s stands for %q, want %q", s, raw, want)
			}
			gotNode, got, err := social.ParseGlobalID("id", s)
			if err != nil || got != id || gotNode != node {
				t.Errorf("%s: got %s %d, %v", s, gotNode, got, err)
			}
		}
	}
	u, b := &social.User{ID: longIDs[1]}, &social.Blog{ID: longIDs[1]}
	if u.GlobalID() == b.GlobalID() {
		t.Error("a person and a blog have one id")
	}
}

func TestIDOfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range longIDs {
		got, err := social.ParseIDOf(social.UserNode, "userId", social.GlobalID(social.UserNode, id))
		if err != nil || got != id {
			t.Errorf("got %d, %v", got, err)
		}
		_, err = social.ParseIDOf(social.UserNode, "userId", social.GlobalID(social.BlogNode, id))
		if !social.HasCode(err, social.BadUserInput) || !strings.Contains(err.Error(), "userId") {
			t.Errorf("got %v", err)
		}
	}
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

var notIDs = []string{
	"", " ", "1", "User:1", encoded("User:"), encoded("User"), encoded(":1"), encoded("1"), encoded("user:1"), encoded("Post:1"),
	encoded("User:0"), encoded("User:-1"), encoded("User:+1"), encoded("User:01"), encoded("User: 1"), encoded("User:1 "), encoded("User:1:1"),
	encoded("User:9223372036854775808"), encoded("User:1e3"), encoded("User:0x1"), encoded("User:1_0"), encoded("User:١"), encoded("User:1\x00"),
	encoded("User:653247040368672769") + "=", strings.TrimRight(encoded("User:1"), "="), encoded("User:1") + "\n", "VXNl\ncjox",
	"VXNlcjoxMR==", strings.Repeat("A", 1<<20), "\xff", base64.URLEncoding.EncodeToString([]byte("User:1?>")), // VXNlcjoxMR: bits past the end
}

func TestTextThatIsNoIDIsRefused(t *testing.T) {
	t.Parallel()
	for _, s := range notIDs {
		if _, id, err := social.ParseGlobalID("id", s); !social.HasCode(err, social.BadUserInput) {
			if social.GlobalID(social.UserNode, id) != s {
				t.Errorf("%q was read as %d, %v", s, id, err)
			}
		}
	}
}

func FuzzParseGlobalID(f *testing.F) {
	for _, id := range longIDs {
		s := social.GlobalID(social.UserNode, id)
		f.Add(s)
		f.Add(social.GlobalID(social.BlogNode, id))
		f.Add(s[:len(s)-1])
		f.Add(strings.TrimRight(s, "=") + "==")
	}
	for _, s := range notIDs[:len(notIDs)-4] {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		node, id, err := social.ParseGlobalID("id", s)
		if err == nil && (social.GlobalID(node, id) != s || id <= 0) {
			t.Errorf("%q was read as %s %d", s, node, id)
		}
		if err != nil && !social.HasCode(err, social.BadUserInput) {
			t.Errorf("%q: %v", s, err)
		}
		for _, want := range []social.NodeType{social.UserNode, social.BlogNode} {
			got, err := social.ParseIDOf(want, "id", s)
			if (err == nil) != (node == want) || err == nil && got != id {
				t.Errorf("%q as %s: %d, %v", s, want, got, err)
			}
		}
	})
}

func TestIDsAreTextInEvents(t *testing.T) {
	t.Parallel()
	for _, id := range longIDs {
		for _, body := range []any{
			social.UserBody{UserID: id}, social.BlogBody{BlogID: id, AuthorID: id},
			social.FollowBody{Changes: []social.FollowChange{{UserID: id, TargetID: id}}},
		} {
			b, err := json.Marshal(body)
			if err != nil || !strings.Contains(string(b), `"`+id.String()+`"`) {
				t.Errorf("%s, %v", b, err)
			}
		}
	}
}

func TestTimeOfAnIDIsItsMillisecond(t *testing.T) {
	t.Parallel()
	for _, ms := range []social.Millis{social.Epoch, social.Epoch + 1, 1_764_500_000_020, social.Epoch + 1<<41 - 1} {
		first := social.FirstIDAt(ms)
		if first.Time() != ms || (first+1<<22-1).Time() != ms {
			t.Errorf("%d: got %d to %d", ms, first.Time(), (first | 1<<22 - 1).Time())
		}
		if first > 0 && (first-1).Time() != ms-1 {
			t.Errorf("%d is not the first of its millisecond", first)
		}
	}
	for _, ms := range []social.Millis{social.Epoch - 1, 0, -1} {
		if got := social.FirstIDAt(ms); got != 0 {
			t.Errorf("%d, before the epoch: got %d", ms, got)
		}
	}
}
