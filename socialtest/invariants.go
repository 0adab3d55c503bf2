package socialtest

import "testing"

// invariants must select no row, whatever has happened.
var invariants = []struct{ what, query string }{
	{"an edge without its other side", `
		SELECT COUNT(*) FROM following f LEFT JOIN follower r ON r.user_id = f.target_id AND r.follower_id = f.user_id
		WHERE r.user_id IS NULL OR r.state <> f.state OR r.since <> f.since`},
	{"an other side without its edge", `
		SELECT COUNT(*) FROM follower r LEFT JOIN following f ON f.user_id = r.follower_id AND f.target_id = r.user_id
		WHERE f.user_id IS NULL`},
	{"a wrong number followed", `
		SELECT COUNT(*) FROM actor a WHERE a.following <>
			(SELECT COUNT(*) FROM following f WHERE f.user_id = a.user_id AND f.state = 1)`},
	{"a wrong number of followers", `
		SELECT COUNT(*) FROM user_count c WHERE c.followers <>
			(SELECT COUNT(*) FROM follower f WHERE f.user_id = c.user_id AND f.state = 1)`},
	{"a wrong number of blogs", `
		SELECT COUNT(*) FROM user_count c WHERE c.blogs <>
			(SELECT COUNT(*) FROM blog b WHERE b.author_id = c.user_id AND b.status = 0)`},
	{"a like without its other side", `
		SELECT COUNT(*) FROM blog_like l LEFT JOIN blog_liker r ON r.blog_id = l.blog_id AND r.user_id = l.user_id
		WHERE r.user_id IS NULL OR r.state <> l.state OR r.since <> l.since`},
	{"an other side without its like", `
		SELECT COUNT(*) FROM blog_liker r LEFT JOIN blog_like l ON l.user_id = r.user_id AND l.blog_id = r.blog_id
		WHERE l.user_id IS NULL`},
	{"a wrong number of likes", `
		SELECT COUNT(*) FROM blog_count c WHERE c.likes <>
			(SELECT COUNT(*) FROM blog_liker l WHERE l.blog_id = c.blog_id AND l.state = 1)`},
	{"likes that are not counted", `
		SELECT COUNT(*) FROM blog_liker l LEFT JOIN blog_count c ON c.blog_id = l.blog_id WHERE l.state = 1 AND c.blog_id IS NULL`},
	{"heat of no likes", `SELECT COUNT(*) FROM blog_count c WHERE c.likes = 0 AND c.heat IS NOT NULL`},
	{"a lane whose number is not its last event's", `
		SELECT COUNT(*) FROM lane l WHERE l.seq <> COALESCE(
			(SELECT MAX(o.seq) FROM outbox o WHERE o.lane = l.lane),
			(SELECT MIN(c.position) FROM consumed c WHERE c.lane = l.lane), 0)`},
	{"a gap in a lane", `
		SELECT COUNT(*) FROM lane l WHERE l.seq <>
			(SELECT COUNT(*) FROM outbox o WHERE o.lane = l.lane) + COALESCE(
			(SELECT MIN(o.seq) - 1 FROM outbox o WHERE o.lane = l.lane),
			(SELECT MIN(c.position) FROM consumed c WHERE c.lane = l.lane), 0)`},
}

// CheckInvariants holds the rows against each other: both sides of every edge and like, every
// count against its rows, lanes without gaps. What was trimmed, the oldest of a lane, is none:
// of a lane without events, every consumer must have passed all.
func (s *Store) CheckInvariants(t testing.TB) {
	t.Helper()
	for _, i := range invariants {
		if n := s.Int(t, i.query); n != 0 {
			t.Errorf("%s: %d times", i.what, n)
		}
	}
}
