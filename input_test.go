package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/social"
	"kith/socialtest"
)

// place is an argument of the schema, or a field of its input object.
type place struct {
	on    string // Query, Mutation, User or Blog
	field *ast.FieldDefinition
	arg   *ast.ArgumentDefinition
	input *ast.FieldDefinition // nil for the argument itself
	item  bool                 // one item of the list
	me    string               // the viewer's global id
	blog  string               // the global id of a blog
}

// places walks the schema: every argument there is, and every field of their inputs.
func places(t *testing.T) []place {
	t.Helper()
	s := schema()
	var found []place
	add := func(p place) {
		found = append(found, p)
		if p.typ().Elem != nil {
			p.item = true
			found = append(found, p)
		}
	}
	for _, def := range s.Types {
		if def.Kind != ast.Object || def.BuiltIn || strings.HasPrefix(def.Name, "__") {
			continue
		}
		if def == s.Subscription { // needs a stream: see TestWhoMaySubscribe
			continue
		}
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			if len(f.Arguments) > 0 && !slices.Contains([]string{"Query", "Mutation", "User", "Blog"}, def.Name) {
				t.Fatalf("%s.%s has arguments: teach place.document to reach it", def.Name, f.Name)
			}
			for _, a := range f.Arguments {
				add(place{on: def.Name, field: f, arg: a})
				if input := s.Types[a.Type.Name()]; input.Kind == ast.InputObject {
					for _, in := range input.Fields {
						if s.Types[in.Type.Name()].Kind == ast.InputObject {
							t.Fatalf("%s.%s nests: teach places to descend", input.Name, in.Name)
						}
						add(place{on: def.Name, field: f, arg: a, input: in})
					}
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b place) int { return strings.Compare(a.String(), b.String()) })
	return found
}

func (p place) String() string {
	s := p.on + "." + p.field.Name + "." + p.arg.Name
	if p.input != nil {
		s += "." + p.input.Name
	}
	if p.item {
		s += "[]"
	}
	return s
}

// name is the name of the argument or input field.
func (p place) name() string {
	if p.input != nil {
		return p.input.Name
	}
	return p.arg.Name
}

func (p place) typ() *ast.Type {
	t := p.arg.Type
	if p.input != nil {
		t = p.input.Type
	}
	if p.item {
		t = t.Elem
	}
	return t
}

// siblings are good values of what else must be given, as GraphQL writes them.
func (p place) siblings(cursor string) map[string]string {
	good := map[string]string{
		"handle": `"newcomer"`, "name": `"Name"`, "password": `"password"`, "title": `"t"`, "content": `"c"`,
		"current": `"password"`, "new": `"password"`,
		"userId": quoted(p.me), "handlePrefix": `"u1"`,
	}
	if p.field.Name == "signIn" {
		good["handle"] = `"u1_test"`
	}
	others := map[string]string{}
	if p.input == nil {
		for _, arg := range p.field.Arguments {
			if arg.Type.NonNull && arg.Name != p.arg.Name {
				others[arg.Name] = good[arg.Name]
			}
		}
	}
	if p.input != nil {
		for _, in := range schema().Types[p.arg.Type.Name()].Fields {
			if in.Type.NonNull && in.Name != p.input.Name {
				others[in.Name] = good[in.Name]
			}
		}
	}
	if p.arg.Name == "last" {
		others["before"] = quoted(cursor)
	}
	return others
}

// document asks for the field with the value in the place; "" leaves it out.
func (p place) document(value, declared, cursor string) string {
	others := p.siblings(cursor)
	if p.item && value != "" {
		value = "[" + value + "]"
	}
	if value != "" {
		others[p.name()] = value
	}
	var parts []string
	for name, v := range others {
		parts = append(parts, name+": "+v)
	}
	slices.Sort(parts)
	args := strings.Join(parts, ", ")
	if p.input != nil {
		args = p.arg.Name + ": {" + args + "}"
	}
	if args != "" {
		args = "(" + args + ")"
	}
	call := p.field.Name + args + " { __typename }"
	switch p.on {
	case "Mutation":
		return "mutation" + declared + " { " + call + " }"
	case "User":
		return "query" + declared + " { viewer { " + call + " } }"
	case "Blog":
		return "query" + declared + " { blog(id: " + quoted(p.blog) + ") { " + call + " } }"
	}
	return "query" + declared + " { " + call + " }"
}

// bodies are the requests that put the value there: as a literal, as a variable, and as
// part of a variable that is the whole input.
func (p place) bodies(v value, cursor string) map[string]string {
	wrap := func(document, variables string) string {
		return `{"query": ` + quoted(document) + `, "variables": {` + variables + `}}`
	}
	bodies := map[string]string{
		"literal":  strings.ReplaceAll(wrap(p.document(v.literal(), "", cursor), ""), marker, v.inLiteral()),
		"variable": wrap(p.document("$v", "($v: "+p.typ().String()+")", cursor), `"v": `+v.json),
	}
	if p.input != nil {
		parts := []string{}
		for name, other := range p.siblings(cursor) {
			parts = append(parts, quoted(name)+": "+other)
		}
		given := v.json
		if p.item {
			given = "[" + given + "]"
		}
		parts = append(parts, quoted(p.name())+": "+given)
		whole := place{on: p.on, field: p.field, arg: p.arg, me: p.me, blog: p.blog}
		bodies["input"] = wrap(whole.document("$whole", "($whole: "+p.arg.Type.String()+")", cursor), `"whole": {`+strings.Join(parts, ", ")+`}`)
	}
	return bodies
}

// textRules are the lengths of the schema, told once more.
var textRules = map[string]struct {
	min, max int
	lines    bool
}{
	"name": {1, 50, false}, "password": {8, 128, false}, "current": {8, 128, false}, "new": {8, 128, false}, "bio": {0, 500, true},
	"title": {1, 120, false}, "content": {1, 10_000, true}, "idempotencyKey": {1, 100, false},
}

// takes says whether the contract takes the value in the place, for the viewer me.
func (p place) takes(raw string, me person) bool {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return false
	}
	if v == nil {
		return !p.typ().NonNull && !(p.field.Name == "updateProfile" && p.name() != "avatarUrl")
	}
	if n, ok := v.(float64); ok {
		return p.typ().Name() == "Int" && n == math.Trunc(n) && n >= 0 && n <= social.MaxPage
	}
	if _, ok := v.(bool); ok {
		return p.typ().Name() == "Boolean"
	}
	s, ok := v.(string)
	if !ok {
		return false
	}
	if rule, ok := textRules[p.name()]; ok {
		n := utf8.RuneCountInString(s)
		return n >= rule.min && n <= rule.max && (rule.min == 0 || strings.TrimSpace(s) != "") && !strings.ContainsFunc(s, func(c rune) bool {
			return unicode.IsControl(c) && !(rule.lines && strings.ContainsRune("\r\n\t", c))
		})
	}
	switch p.name() {
	case "handle":
		return len(s) >= 3 && len(s) <= 30 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	case "id", "ids":
		kind, _, err := social.ParseGlobalID("", s)
		return err == nil && (p.field.Name != "blog" || kind == social.BlogNode)
	case "userIds": // each has a result of its own
		kind, _, err := social.ParseGlobalID("", s)
		return err == nil && kind == social.UserNode
	case "handlePrefix":
		return len(s) >= 2 && len(s) <= 30 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	case "upTo":
		_, err := social.DecodeCursor("", s, social.NotificationsCursor, me.id)
		return err == nil
	case "userId":
		return p.on == "Query" && s == me.gid
	case "after", "before":
		switch p.field.Name {
		case "mutualFollows", "followersYouKnow":
			kind := map[string]social.CursorKind{"mutualFollows": social.MutualCursor, "followersYouKnow": social.KnownCursor}
			_, err := social.DecodeCursor("", *seal().Open(&s), kind[p.field.Name], me.id, me.id)
			return err == nil
		case "notifications":
			_, err := social.DecodeCursor("", s, social.NotificationsCursor, me.id)
			return err == nil
		case "searchUsers":
			_, err := social.DecodeHandleCursor("", *seal().Open(&s), "u1")
			return err == nil
		case "likers":
			_, blog, _ := social.ParseGlobalID("", p.blog)
			_, err := social.DecodeCursor("", *seal().Open(&s), social.LikersCursor, blog)
			return err == nil
		case "followers", "following", "likedBlogs":
			s = *seal().Open(&s)
		}
		kind := map[string]social.CursorKind{"followFeed": social.FeedCursor, "blogs": social.BlogsCursor, "followers": social.FollowersCursor, "following": social.FollowingCursor, "likedBlogs": social.LikedCursor}
		_, err := social.DecodeCursor("", s, kind[p.field.Name], me.id)
		return err == nil
	}
	return false // ids that may be written to are tested apart; so are good addresses
}

// wantCode is what a value that is not taken is refused with.
func (p place) wantCode(raw, form string) social.Code {
	kind := map[string]social.NodeType{"userId": social.UserNode, "blogId": social.BlogNode}[p.name()]
	switch {
	case raw == quoted(social.GlobalID(kind, unknownID)) && kind != "":
		return social.NotFound
	case form == "literal" && len(raw) > 32<<10:
		return social.QueryTooComplex
	}
	return social.BadUserInput
}

func TestBadInputIsToldByFieldAndWritesNothing(t *testing.T) {
	t.Parallel()
	all := places(t)
	if len(all) < 55 {
		t.Errorf("only %d places", len(all))
	}
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		me, author := u[0], u[2]
		me.follow(t, author)
		blog := author.publish(t, "blog")
		cursor := me.readFeed(t, "").cursors[0]
		refused, taken := 0, 0
		for _, p := range all {
			p.me, p.blog = me.gid, blog
			before := w.rowCounts(t)
			for _, v := range values(me, u[1], author, blog) {
				if !v.malformed && p.takes(v.json, me) {
					if p.on != "Mutation" {
						p.checkTaken(t, me, v, cursor)
					}
					taken++
					continue
				}
				for form, body := range p.bodies(v, cursor) {
					p.checkRefused(t, post(me.Client, body), v, form)
					refused++
				}
			}
			p.checkAbsent(t, me, cursor)
			if after := w.rowCounts(t); after != before {
				t.Errorf("%s: rows were written: %s, before %s", p, after, before)
			}
		}
		t.Logf("%d places, %d requests refused, %d values taken", len(all), refused, taken)
	})
}

func (p place) checkRefused(t *testing.T, a socialtest.Answer, v value, form string) {
	t.Helper()
	told := fmt.Sprintf("%s = %.60s as %s answered %d: %.300s", p, strconv.QuoteToASCII(v.json), form, a.Status, a.Body)
	if v.malformed {
		if a.Status != 400 || a.Code() != string(social.BadUserInput) {
			t.Errorf("malformed: %s", told)
		}
		return
	}
	want := p.wantCode(v.json, form)
	if a.Status != 200 || a.Code() != string(want) || !json.Valid([]byte(a.Body)) {
		t.Errorf("want %s: %s", want, told)
		return
	}
	if want == social.QueryTooComplex {
		return
	}
	// Of an object, its key or what it lacks is at fault.
	if field := a.Field(); field != p.name() && !(strings.HasPrefix(v.json, "{") && field != "") {
		t.Errorf("want it about %q: %s", p.name(), told)
	}
	for _, e := range gjson.Get(a.Body, "errors.#.extensions.code").Array() {
		if e.String() != string(want) {
			t.Errorf("another error: %s", told)
		}
	}
}

func (p place) checkTaken(t *testing.T, me person, v value, cursor string) {
	t.Helper()
	for form, body := range p.bodies(v, cursor) {
		if a := post(me.Client, body); a.Status != 200 || gjson.Get(a.Body, "errors").Exists() {
			if p.name() == "last" && v.json == "null" || p.name() == "before" && v.json == "null" {
				continue // before without last and the other way round are tested apart
			}
			t.Errorf("%s = %s as %s is to be taken, and answered %d: %s", p, v.json, form, a.Status, a.Body)
		}
	}
}

// checkAbsent leaves out what must be given: in the document, among the variables, in an
// input.
func (p place) checkAbsent(t *testing.T, me person, cursor string) {
	t.Helper()
	if !p.typ().NonNull || p.item {
		return
	}
	variable := p.document("$v", "($v: "+p.typ().String()+")", cursor)
	bodies := []string{`{"query": ` + quoted(p.document("", "", cursor)) + `}`, `{"query": ` + quoted(variable) + `}`}
	if p.input != nil {
		whole := place{on: p.on, field: p.field, arg: p.arg, me: p.me, blog: p.blog}
		others := []string{}
		for name, other := range p.siblings(cursor) {
			others = append(others, quoted(name)+": "+other)
		}
		bodies = append(bodies, `{"query": `+quoted(whole.document("$whole", "($whole: "+p.arg.Type.String()+")", cursor))+
			`, "variables": {"whole": {`+strings.Join(others, ", ")+`}}}`)
	}
	for _, body := range bodies {
		wantError(t, post(me.Client, body), social.BadUserInput, p.name())
	}
}
