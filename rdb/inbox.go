package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"kith/social"
)

const (
	inboxLife     = 7 * 24 * time.Hour
	followingLife = 7 * 24 * time.Hour
	// leaseLife is how long a filling may take.
	leaseLife = 10 * time.Second
)

// Home is a reading of the head of a person's feed.
type Home struct {
	Call  *Call
	Token string // of what the reading found missing and marked as its own to fill
}

// HomeAnswer is what a reading found.
type HomeAnswer struct {
	// Version is that of the person's edges; -1 where it is not known who is followed.
	Version int64
	// SinceWrote is how long ago the person wrote; 0 where that is not known.
	SinceWrote time.Duration
	// Whole says that the inbox holds all above Floor. Missing, that it is not there and
	// this reading, of the head, is to build it. Refs need a whole inbox and a version.
	Whole, Missing bool
	// Floor is the lowest blog of a whole inbox; 0 where nothing is below.
	Floor social.ID
	// Refs are blogs in the inbox of those followed, in the direction of the reading.
	Refs []social.BlogRef
}

// NewHome reads n entries strictly past an id, away from it: newer ones if up, else older.
func NewHome(who, past social.ID, up bool, n int, token string) *Home {
	direction, at := "down", "+inf"
	if up {
		direction = "up"
	}
	if past != math.MaxInt64 {
		at = fmt.Sprint(int64(past.Time()))
	}
	return &Home{Token: token, Call: &Call{
		Part: Partition(who), script: homeScript,
		keys: func(e int64) []string {
			return []string{inboxKey(e, who), followingKey(e, who), leaseOf(followingKey(e, who)), wroteKey(e, who)}
		},
		args: []any{token, n, direction, idBytes(past), at, ms(leaseLife), ms(inboxLife), ms(wroteLife)},
	}}
}

// Answer is UNAVAILABLE where Redis did not answer.
func (h *Home) Answer() (a HomeAnswer, err error) {
	if err := h.Call.Err(); err != nil {
		return a, err
	}
	parts, err := h.Call.cmd.Slice()
	if err != nil || len(parts) < 4 {
		return a, fmt.Errorf("read an inbox: %d parts: %w", len(parts), err)
	}
	a.Version = -1
	if v, _ := parts[0].(string); v != "" {
		if _, err := fmt.Sscan(v, &a.Version); err != nil {
			return a, fmt.Errorf("read the version of those followed: %w", err)
		}
	}
	if since, ok := parts[1].(int64); ok {
		a.SinceWrote = time.Duration(since) * time.Millisecond
	}
	a.Whole, a.Missing = parts[2] == "whole", parts[2] == "mine"
	if floor, _ := parts[3].(string); a.Whole && len(floor) == 16 {
		a.Floor = parseMember(floor).ID
	}
	for _, p := range parts[4:] {
		m, ok := p.(string)
		if !ok || len(m) != 16 {
			return a, fmt.Errorf("read an inbox: a member of %d bytes", len(m))
		}
		a.Refs = append(a.Refs, parseMember(m))
	}
	return a, nil
}

// Build makes the inbox that a reading by token found missing of the newest blogs, at most
// size of them; complete says that there are no more.
func Build(who social.ID, token string, size int, refs []social.BlogRef, complete bool) *Call {
	args := []any{token, kept(size), ms(inboxLife)}
	if complete {
		args = append(args, 0, member(social.BlogRef{}))
	}
	return &Call{
		Part: Partition(who), script: buildScript, args: append(args, scored(refs)...),
		keys: func(e int64) []string { return []string{inboxKey(e, who)} },
	}
}

// kept is how many entries an inbox keeps, or one more. Even that is one less than an entry
// and size blogs above it: where an author has more blogs than a follow has brought, nothing
// below those is left, not even the word that nothing is there.
func kept(size int) int { return size - 1 }

// Push puts blogs into the inboxes of people of one partition, where those are.
func Push(part int, people []social.ID, size int, refs ...social.BlogRef) *Call {
	return &Call{Part: part, script: pushScript, keys: inboxes(people), args: append([]any{kept(size)}, scored(refs)...)}
}

// Remove takes a blog out of the inboxes of people of one partition.
func Remove(part int, people []social.ID, ref social.BlogRef) *Call {
	return &Call{Part: part, script: removeScript, keys: inboxes(people), args: []any{member(ref)}}
}

// DropInbox deletes a person's inbox.
func DropInbox(who social.ID) *Call {
	return &Call{Part: Partition(who), name: "DEL", keys: inboxes([]social.ID{who})}
}

// DropFollowing deletes whom a person follows, and ends the filling of it that is under way.
func DropFollowing(who social.ID) *Call {
	return &Call{Part: Partition(who), name: "DEL", keys: withLease(who, followingKey)}
}

func inboxes(people []social.ID) func(int64) []string {
	return func(epoch int64) []string {
		keys := make([]string, len(people))
		for i, p := range people {
			keys[i] = inboxKey(epoch, p)
		}
		return keys
	}
}

// FillFollowing stores whom a person follows, under the lease of token.
func FillFollowing(who social.ID, token string, version int64, followed []social.Peer) *Call {
	args := make([]any, 0, 5+2*len(followed))
	args = append(args, token, ms(followingLife), "ZADD", version, "v")
	for _, p := range followed {
		args = append(args, int64(p.Since), idBytes(p.ID))
	}
	return fill(who, followingKey, args)
}

func fill(who social.ID, key func(int64, social.ID) string, args []any) *Call {
	return &Call{Part: Partition(who), script: fillScript, args: args, keys: withLease(who, key)}
}

// Move is a change of whose blogs a feed has, brought to the caches of its owner.
type Move struct{ Call *Call }

// NewMove brings it.
func NewMove(f social.FollowCall) *Move {
	who := f.UserID
	return &Move{&Call{
		Part: Partition(who), script: moveScript,
		keys: func(e int64) []string {
			return []string{followingKey(e, who), leaseOf(followingKey(e, who)), inboxKey(e, who)}
		},
		args: []any{f.Version, bit(f.Changed), bit(f.IsShown()), idBytes(f.TargetID), int64(f.Since)},
	}}
}

// Floor is down to which blog the owner's inbox needs those of the target, and whether it
// needs any. The call must have succeeded.
func (m *Move) Floor() (floor social.ID, needed bool) {
	s, err := m.Call.cmd.Text()
	if err != nil { // redis.Nil
		return 0, false
	}
	if len(s) == 16 {
		floor = parseMember(s).ID
	}
	return floor, true
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scored are the arguments of ZADD.
func scored(refs []social.BlogRef) []any {
	args := make([]any, 0, 2*len(refs))
	for _, r := range refs {
		args = append(args, int64(r.ID.Time()), member(r))
	}
	return args
}

func member(r social.BlogRef) string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), uint64(r.ID))
	return string(binary.BigEndian.AppendUint64(b, uint64(r.AuthorID)))
}

func parseMember(m string) social.BlogRef {
	return social.BlogRef{
		ID:       social.ID(binary.BigEndian.Uint64([]byte(m[:8]))),
		AuthorID: social.ID(binary.BigEndian.Uint64([]byte(m[8:]))),
	}
}

func idBytes(id social.ID) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(id)))
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
