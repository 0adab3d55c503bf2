package rdb

import "kith/social"

// Follows asks whether a person's feed has the blogs of some authors.
type Follows struct {
	Who     social.ID
	Authors []social.ID
	Call    *Call
}

// NewFollows asks it of the list of those followed, which has to be there.
func NewFollows(who social.ID, authors ...social.ID) Follows {
	args := make([]any, 0, 1+len(authors))
	args = append(args, "v")
	for _, a := range authors {
		args = append(args, idBytes(a))
	}
	return Follows{who, authors, &Call{
		Part: Partition(who), name: "ZMSCORE", args: args,
		keys: func(e int64) []string { return []string{followingKey(e, who)} },
	}}
}

// Answer tells for each author, in their order, whether the feed has their blogs; known is
// false where there is no list. The call must have succeeded.
func (f Follows) Answer() (shown []bool, known bool) {
	scores, err := f.Call.cmd.Slice()
	if err != nil || len(scores) != 1+len(f.Authors) || scores[0] == nil {
		return nil, false
	}
	for _, s := range scores[1:] {
		shown = append(shown, s != nil)
	}
	return shown, true
}
