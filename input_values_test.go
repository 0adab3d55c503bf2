package main

import (
	"encoding/base64"
	"strings"

	"kith/social"
)

// value is what a client may send, as JSON.
type value struct {
	json string
	// malformed makes the whole body no JSON, or no text.
	malformed bool
}

// marker stands for what quoted would mend.
const marker = "MALFORMED"

func (v value) literal() string {
	if v.malformed {
		return `"` + marker + `"`
	}
	if strings.HasPrefix(v.json, `{"`) {
		return `{a: 1}`
	}
	return v.json
}

// inLiteral is what stands between the quotes of a literal, within JSON.
func (v value) inLiteral() string { return strings.Trim(v.json, `"`) }

// values are sent to every place; the contract says which it takes.
func values(me, other, author person, blog string) []value {
	texts := []string{
		"", "   ", "\t\n", "a\nb", "a\x01b", "a\x00b", "\x7f", "\u0085", "garbage!", "5", "-1", "1.5", "null", "true", "a b",
		strings.Repeat("x", 31), strings.Repeat("ü", 51), strings.Repeat("x", 101), strings.Repeat("x", 121), strings.Repeat("x", 129),
		strings.Repeat("👍", 501), strings.Repeat("x", 10_001), strings.Repeat("x", 100_000),
		"http://", "//host/path", "ftp://example.com/a", "javascript:alert(1)", "https://exa mple.com", "https://example.com/" + strings.Repeat("a", 2029),
		"User:5", "VXNlcjo1=", "VXNlcjo1\n", me.gid, other.id.String(), strings.TrimRight(me.gid, "="), me.gid + "=", strings.ToLower(me.gid),
		social.GlobalID(social.UserNode, unknownID), social.GlobalID(social.BlogNode, unknownID), social.GlobalID("Comment", 5),
	}
	for _, plain := range []string{"User:007", "user:5", "User:-5", "User:0", "User:9223372036854775808", "User:5:5", "User: 5", ":5", "User", "Blog:", "User:5\x00"} {
		texts = append(texts, base64.StdEncoding.EncodeToString([]byte(plain)))
	}
	for _, owner := range []person{me, other} {
		for kind := social.FeedCursor; kind <= social.FollowingCursor; kind++ {
			c := social.Cursor{MinTime: social.Epoch, Offset: 1, ID: author.id}.Encode(kind, owner.id)
			texts = append(texts, c, seal().Close(c)) // one of them is right for the list
		}
	}
	for _, owner := range []person{me, other} {
		for kind := social.MutualCursor; kind <= social.KnownCursor; kind++ {
			texts = append(texts, seal().Close(social.Cursor{MinTime: social.Epoch, ID: author.id}.Encode(kind, me.id, owner.id)))
		}
	}
	_, liked, _ := social.ParseGlobalID("", blog)
	for _, owner := range []social.ID{me.id, other.id, liked, liked + 1} {
		for kind := social.LikersCursor; kind <= social.NotificationsCursor; kind++ {
			texts = append(texts, seal().Close(social.Cursor{MinTime: social.Epoch, ID: author.id}.Encode(kind, owner)))
		}
	}
	texts = append(texts, seal().Close(social.Cursor{MinTime: social.Epoch, Offset: 1, ID: liked}.Encode(social.HotCursor))) // of a list that is not kept
	for _, prefix := range []string{"u1", "u2"} {
		c := social.Cursor{ID: author.id, Handle: prefix + "_"}.EncodeByHandle(prefix)
		texts = append(texts, c, seal().Close(c))
	}
	c := texts[len(texts)-1]
	texts = append(texts, c[:len(c)-1], "A"+c[1:], c+"=")
	vs := []value{
		{json: "null"}, {json: "7"}, {json: "0"}, {json: "-1"}, {json: "101"}, {json: "2147483647"}, {json: "2147483648"}, {json: "-2147483649"},
		{json: "9223372036854775807"}, {json: "9223372036854775808"}, {json: "1.5"}, {json: "true"}, {json: `{"a": 1}`}, {json: `["x"]`}, {json: `[[1]]`}, {json: `[null]`},
		{json: "\"a\xc3(b\"", malformed: true}, {json: "\"\xff\"", malformed: true}, {json: "\"\xed\xa0\x80\"", malformed: true},
		{json: `"\ud800"`, malformed: true}, {json: `"a\udc00b"`, malformed: true},
	}
	for _, s := range texts {
		vs = append(vs, value{json: quoted(s)})
	}
	return vs
}

// unknownID is nobody's.
const unknownID = 5
