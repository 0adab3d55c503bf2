package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
)

// long repeats a character of four bytes, since lengths count characters.
func long(n int) string { return strings.Repeat("🦆", n) }

// address is n bytes long, most of them what HTML-safe JSON writes in six.
func address(n int) string {
	const begin = "https://example.com/?"
	return begin + strings.Repeat("&", n-len(begin))
}

func addresses(n, length int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = address(length)
	}
	return urls
}

// length is a limit of the schema: what is taken up to it, and what is not.
type length struct {
	field, doc string
	back       string // where the answer has the value; empty for nowhere
	good, bad  []any
}

// lengths are all limits of the schema. FRESH stands for a handle that nobody has.
func lengths(me string) []length {
	ids := strings.Split(strings.Repeat(me+" ", 101), " ")[:101]
	return []length{
		{
			"handle", `mutation($v: String!) { signUp(input: {handle: $v, name: "N", password: "password"}) { user { handle } } }`, "signUp.user.handle",
			[]any{"abc", strings.Repeat("h", 30)}, []any{"ab", strings.Repeat("h", 31), "", "hänsel", "a b", "a-b", "abc\n", "ａｂｃ"},
		}, {
			"name", `mutation($v: String!) { signUp(input: {handle: "FRESH", name: $v, password: "password"}) { user { name } } }`, "signUp.user.name",
			[]any{"N", long(50)}, []any{"", long(51), " ", "\u00a0\u2003", "a\nb", "\u202e\x00"},
		}, {
			"password", `mutation($v: String!) { signUp(input: {handle: "FRESH", name: "N", password: $v}) { token } }`, "",
			[]any{"12345678", long(8), long(128)}, []any{"1234567", long(7), long(129), "1234567\n"},
		}, {
			"name", `mutation($v: String) { updateProfile(input: {name: $v}) { user { name } } }`, "updateProfile.user.name",
			[]any{"N", long(50)}, []any{"", long(51), nil},
		}, {
			"bio", `mutation($v: String) { updateProfile(input: {bio: $v}) { user { bio } } }`, "updateProfile.user.bio",
			[]any{"", long(500), "\n"}, []any{long(501), "a\x0bb", nil},
		}, {
			"avatarUrl", `mutation($v: String) { updateProfile(input: {avatarUrl: $v}) { user { avatarUrl } } }`, "updateProfile.user.avatarUrl",
			[]any{"http://a", address(2048), "https://example.com/ü?q=\"'\\#f", nil},
			[]any{address(2049), "https://example.com/" + long(508), "", "http:", "http:///path", "HTTP", "mailto:a@example.com", "https://example.com/\n"},
		}, {
			"title", `mutation($v: String!) { publishBlog(input: {title: $v, content: "c"}) { blog { title } } }`, "publishBlog.blog.title",
			[]any{"t", long(120)}, []any{"", " ", long(121), "a\tb"},
		}, {
			"content", `mutation($v: String!) { publishBlog(input: {title: "t", content: $v}) { blog { content } } }`, "publishBlog.blog.content",
			[]any{"c", long(10_000)}, []any{"", " \n\t", long(10_001)},
		}, {
			"imageUrls", `mutation($v: [String!]) { publishBlog(input: {title: "t", content: "c", imageUrls: $v}) { blog { imageUrls } } }`, "publishBlog.blog.imageUrls",
			[]any{[]string{}, addresses(9, 2048), []string{"https://example.com/<\"'\\>\u2028"}},
			[]any{addresses(10, 30), addresses(1, 2049), []string{"https://example.com", ""}, []string{"/a"}},
		}, {
			"idempotencyKey", `mutation($v: String) { publishBlog(input: {title: "t", content: "c", idempotencyKey: $v}) { blog { id } } }`, "",
			[]any{"k", long(100), nil, "' OR 1=1"}, []any{"", " ", long(101), "a\nb"},
		}, {
			"ids", `query($v: [ID!]!) { nodes(ids: $v) { id } }`, "", []any{ids[:100], []string{}}, []any{ids},
		}, {
			"handle", `query($v: String!) { user(handle: $v) { id } }`, "", []any{"abc", strings.Repeat("h", 30)}, []any{"ab", strings.Repeat("h", 31)},
		}, {
			"first", `query($v: Int) { followFeed(first: $v) { __typename } viewer { followers(first: $v) { __typename } following(first: $v) { __typename } blogs(first: $v) { __typename } } }`,
			"", []any{0, 1, 100, nil}, []any{-1, 101},
		},
	}
}

func TestLengthsAreTakenToTheLimitAndNoFurther(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		requests := 0
		doc := func(l length) string {
			requests++
			return strings.ReplaceAll(l.doc, "FRESH", fmt.Sprintf("fresh_%d", requests))
		}
		for _, l := range lengths(me.gid) {
			for _, v := range l.good {
				a := me.Do(t, doc(l), map[string]any{"v": v})
				if a.Status != 200 || a.Code() != "" {
					t.Errorf("%s %.60q answered %d: %.300s", l.field, v, a.Status, a.Body)
				} else if back := a.Data().Get(l.back); l.back != "" && !isJSON(t, back, v) {
					t.Errorf("%s %.60q came back as %.60q", l.field, v, back)
				}
			}
			before := w.rowCounts(t)
			for _, v := range l.bad {
				wantError(t, me.Do(t, doc(l), map[string]any{"v": v}), social.BadUserInput, l.field)
			}
			if after := w.rowCounts(t); after != before {
				t.Errorf("%s: rows were written: %s, before %s", l.field, after, before)
			}
		}
	})
}

// isJSON tells whether the answer has just this value.
func isJSON(t *testing.T, got gjson.Result, want any) bool {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(got.Raw), &v); err != nil {
		t.Fatalf("%s: %v", got.Raw, err)
	}
	a, _ := json.Marshal(v)
	b, _ := json.Marshal(want)
	return string(a) == string(b)
}

// strange texts are text all the same.
var strange = map[string]string{
	"emoji":             "🦆👩‍👩‍👧‍👦🏳️‍🌈👍🏽",
	"combining marks":   "e\u0301 a\u0308 Z\u0351\u036b\u0343 \u0915\u094d\u0937",
	"right to left":     "שלום עולם — مرحبا \u202eevil\u202c",
	"beyond the plane":  "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀 \U0010fffd",
	"quotes":            `'"` + "`" + `\ %_ '' "" \' \" \\ \% \_`,
	"SQL":               `'; DROP TABLE user; -- ? ?1 :a @b $1 /* */ #`,
	"escapes":           `\u0041 \n \x00 \0 \Z ${a} {{b}} %s %00 +`,
	"markup":            `&amp; <script>alert(1)</script>`,
	"blanks around":     "  a  ",
	"no-break and zero": "\u00a0a\u200b\u200d\ufeff",
	"line separators":   "a\u2028b\u2029c",
	"no characters":     "\ufffe\uffff \ufffd",
	"GraphQL":           `"""block""" # no comment { } $v @skip`,
	"same to MySQL":     "ß ss ẞ É é E",
}

func TestStrangeTextComesBackAsItWent(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, reads := w.person(t), w.person(t)
		reads.follow(t, me)
		n := 0
		check := func(kind, s string, lines bool) {
			n++
			name, title, key := s, s, s
			if lines {
				name, title, key = "Name", "title", fmt.Sprint(n)
			}
			for _, form := range []string{"variables", "literals"} {
				v := map[string]any{"n": name, "t": title, "c": s, "b": s, "k": key + form[:1]}
				doc := `mutation($n: String, $b: String, $t: String!, $c: String!, $k: String) {
					updateProfile(input: {name: $n, bio: $b}) { user { name bio } } publishBlog(input: {title: $t, content: $c, idempotencyKey: $k}) { blog { id title content } } }`
				if form == "literals" {
					doc = doc[strings.Index(doc, ")")+1:]
					for name, value := range v {
						doc = strings.ReplaceAll(doc, "$"+name, quoted(value.(string)))
					}
					doc, v = "mutation "+doc, nil
				}
				d := me.OK(t, doc, v)
				blog := d.Get("publishBlog.blog.id").String()
				read := reads.OK(t, `query($id: ID!) { blog(id: $id) { title content author { name bio } } followFeed(first: 1) { nodes { title content author { name bio } } } }`, map[string]any{"id": blog})
				for path, want := range map[string]string{
					"updateProfile.user.name": name, "updateProfile.user.bio": s, "publishBlog.blog.title": title, "publishBlog.blog.content": s,
				} {
					if got := d.Get(path).String(); got != want {
						t.Errorf("%s by %s: %s is %q, want %q", kind, form, path, got, want)
					}
				}
				for _, node := range []gjson.Result{read.Get("blog"), read.Get("followFeed.nodes.0")} {
					if node.Get("title").String() != title || node.Get("content").String() != s || node.Get("author.name").String() != name || node.Get("author.bio").String() != s {
						t.Errorf("%s by %s is read as %s, want %q", kind, form, node, s)
					}
				}
				w.Clock.Advance(time.Millisecond)
			}
		}
		for kind, s := range strange {
			check(kind, s, false)
		}
		check("lines", "a\nb\r\nc\td\r", true)
	})
}
