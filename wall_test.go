package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/social"
	"kith/socialtest"
)

// walled is a person whom others must not see, or not all of; and somebody everybody sees,
// who follows that person and is followed by them.
type walled struct {
	*world
	hidden, between, viewer person
	blog, other             string // of hidden, of between
}

const (
	hiddenHandle, hiddenTitle = "hidden_one", "a hidden blog"
	openHandle, openTitle     = "open_one", "an open blog"
)

func newWalled(t *testing.T, w *world) *walled {
	t.Helper()
	p := w.persons(t, 3)
	v := &walled{world: w, hidden: p[0], between: p[1], viewer: p[2]}
	w.Exec(t, "UPDATE user SET handle = ?, name = ? WHERE id = ?", hiddenHandle, hiddenHandle, v.hidden.id)
	w.Exec(t, "UPDATE user SET handle = ?, name = ? WHERE id = ?", openHandle, openHandle, v.between.id)
	v.blog, v.other = v.hidden.publish(t, hiddenTitle), v.between.publish(t, openTitle)
	for _, pair := range [][2]person{
		{v.hidden, v.between}, {v.between, v.hidden}, {v.viewer, v.between},
		{v.viewer, v.hidden}, {v.hidden, v.viewer}, {v.between, v.viewer},
	} {
		pair[0].follow(t, pair[1])
	}
	mine := v.viewer.publish(t, "the viewer's")
	v.hidden.like(t, mine)
	v.between.like(t, mine)
	w.tell(t)
	v.viewer.relate(t, "mute", v.hidden)
	for _, p := range []person{v.hidden, v.between, v.viewer} {
		p.like(t, v.blog)
		p.like(t, v.other)
	}
	return v
}

// relate changes how p stands to the other by a mutation of a UserIdInput.
func (p person) relate(t testing.TB, mutation string, other person) gjson.Result {
	t.Helper()
	return p.OK(t, `mutation($u: ID!) { `+mutation+`(input: {userId: $u}) { userId user { id } viewer { id } } }`,
		map[string]any{"u": other.gid}).Get(mutation)
}

// way is an operation that reads people or blogs.
type way struct {
	root, operation string
	asksOpen        bool // what its arguments name is not the hidden person's
}

// ways are operations that together ask every field of the schema that gives a person or
// blog, from every root. A field that they do not reach fails the test.
func (v *walled) ways(t *testing.T) []way {
	t.Helper()
	userInput := func(gid string) string { return fmt.Sprintf("(input: {userId: %q})", gid) }
	blogInput := func(gid string) string { return fmt.Sprintf("(input: {blogId: %q})", gid) }
	arguments := map[string]map[bool][]string{ // by root; true: of the open person
		"node":          {false: {fmt.Sprintf("(id: %q)", v.hidden.gid), fmt.Sprintf("(id: %q)", v.blog)}, true: {fmt.Sprintf("(id: %q)", v.between.gid), fmt.Sprintf("(id: %q)", v.other)}},
		"nodes":         {false: {fmt.Sprintf("(ids: [%q, %q])", v.hidden.gid, v.blog)}, true: {fmt.Sprintf("(ids: [%q, %q])", v.between.gid, v.other)}},
		"user":          {false: {fmt.Sprintf("(handle: %q)", hiddenHandle)}, true: {fmt.Sprintf("(handle: %q)", openHandle)}},
		"blog":          {false: {fmt.Sprintf("(id: %q)", v.blog)}, true: {fmt.Sprintf("(id: %q)", v.other)}},
		"mutualFollows": {false: {fmt.Sprintf("(userId: %q)", v.hidden.gid)}, true: {fmt.Sprintf("(userId: %q)", v.between.gid)}},
		"searchUsers":   {true: {`(handlePrefix: "hid")`, `(handlePrefix: "op")`}},
		"viewer":        {true: {""}}, "followFeed": {true: {""}}, "followRequests": {true: {""}}, "blockedUsers": {true: {""}}, "mutedUsers": {true: {""}},
		"hotBlogs": {true: {""}}, "notifications": {true: {""}}, "markNotificationsRead": {true: {"(input: {})"}},
		"likeBlog":      {false: {blogInput(v.blog)}, true: {blogInput(v.other)}},
		"followMany":    {false: {fmt.Sprintf("(input: {userIds: [%q]})", v.hidden.gid)}, true: {fmt.Sprintf("(input: {userIds: [%q]})", v.between.gid)}},
		"updateProfile": {true: {`(input: {name: "Another"})`}},
		"publishBlog":   {true: {`(input: {title: "t", content: "c"})`}},
		"deleteBlog":    {true: {fmt.Sprintf("(input: {blogId: %q})", v.viewer.publish(t, "short-lived"))}},
	}
	arguments["unlikeBlog"] = arguments["likeBlog"]
	for _, m := range []string{"follow", "unfollow", "removeFollower", "acceptFollowRequest", "rejectFollowRequest", "unblock", "mute", "unmute", "block"} {
		arguments[m] = map[bool][]string{false: {userInput(v.hidden.gid)}, true: {userInput(v.between.gid)}}
	}
	delete(arguments["unblock"], false) // it would take the wall away
	// These give nobody but who calls.
	own := []string{"signUp", "signIn", "signOut", "changePassword", "deleteAccount"}
	s := selections{schema: schema(), reached: map[string]bool{}}
	var all []way
	for _, root := range []*ast.Definition{s.schema.Query, s.schema.Mutation} {
		for _, f := range root.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			s.reached[root.Name+"."+f.Name] = true
			depth := 1
			if f.Name == "node" || f.Name == "user" { // from here to everywhere
				depth = 2
			}
			if slices.Contains(own, f.Name) {
				continue
			}
			if arguments[f.Name] == nil {
				t.Fatalf("%s.%s needs arguments here", root.Name, f.Name)
			}
			for asksOpen, texts := range arguments[f.Name] {
				for _, text := range texts {
					for _, below := range s.of(s.schema.Types[f.Type.Name()], depth) {
						all = append(all, way{f.Name, strings.ToLower(root.Name) + " { " + f.Name + text + " { " + below + " } }", asksOpen})
					}
				}
			}
		}
	}
	for _, def := range s.schema.Types {
		for _, f := range def.Fields {
			switch name := f.Type.Name(); {
			case def.BuiltIn || def.Kind == ast.InputObject || strings.HasPrefix(def.Name, "__"):
			case def == s.schema.Subscription, def.Name == "NotificationUpdate": // see TestWhoDoesNotSeeABlogHearsNothingOfItsLikes
			case name == "User" || name == "Blog" || name == "Node" || strings.HasSuffix(name, "Connection"):
				if !s.reached[def.Name+"."+f.Name] && def.Name != "AuthPayload" {
					t.Errorf("no way here goes through %s.%s", def.Name, f.Name)
				}
			}
		}
	}
	return all
}

// selections writes what is asked below a field.
type selections struct {
	schema  *ast.Schema
	reached map[string]bool
}

// of are selections of a type that together go through each of its fields, and through as
// many people and blogs below each other as depth says.
func (s selections) of(def *ast.Definition, depth int) []string {
	if def.Kind == ast.Interface {
		var all []string
		for _, is := range s.schema.GetPossibleTypes(def) {
			for _, below := range s.of(is, depth) {
				all = append(all, "... on "+is.Name+" { "+below+" }")
			}
		}
		return all
	}
	if strings.HasSuffix(def.Name, "Connection") { // its nodes are those of its edges
		s.reached[def.Name+".nodes"], s.reached[def.Name+".edges"] = true, true
		edge := s.of(s.schema.Types[def.Fields.ForName("edges").Type.Name()], 0)
		var all []string
		for _, below := range s.of(s.schema.Types[def.Fields.ForName("nodes").Type.Name()], depth) {
			all = append(all, "edges { "+strings.Join(edge, " ")+" } nodes { "+below+" }")
		}
		return all
	}
	isEntity := def.Name == "User" || def.Name == "Blog"
	var leaves []string
	var deep []*ast.FieldDefinition
	for _, f := range def.Fields {
		switch to := s.schema.Types[f.Type.Name()]; {
		case strings.HasPrefix(f.Name, "__"):
		case !to.IsCompositeType():
			leaves = append(leaves, f.Name)
		case to.Name != "PageInfo" && (!isEntity || depth > 0):
			deep = append(deep, f)
		}
	}
	here := strings.Join(leaves, " ")
	var all []string
	for _, f := range deep {
		s.reached[def.Name+"."+f.Name] = true
		below := depth
		if isEntity {
			below--
		}
		for _, inner := range s.of(s.schema.Types[f.Type.Name()], below) {
			all = append(all, here+" "+f.Name+" { "+inner+" }")
		}
	}
	if len(all) == 0 {
		all = []string{here}
	}
	return all
}

// asked runs the ways as somebody and gives to each its answer.
func (p person) asked(t *testing.T, ways []way, look func(way, string)) {
	t.Helper()
	for _, way := range ways {
		a := p.Do(t, way.operation, nil)
		if a.Status != 200 || strings.Contains(a.Body, `"INTERNAL"`) {
			t.Fatalf("%s answered %d: %s", way.operation, a.Status, a.Body)
		}
		look(way, a.Body)
	}
}

// Else there would be nothing to hide.
func TestManyWaysShowWhoIsNotHidden(t *testing.T) {
	t.Parallel()
	v := newWalled(t, newWorld(t, socialtest.NewSQLite(t)))
	ways, shown := v.ways(t), 0
	v.viewer.asked(t, ways, func(w way, body string) {
		if strings.HasPrefix(w.operation, "query") && strings.Contains(body, hiddenHandle) {
			shown++
		}
	})
	if shown < 50 {
		t.Errorf("only %d of %d ways show the person", shown, len(ways))
	}
}

// P6, and what else hides people: whatever is asked, from whatever root, by whatever way
// through the schema.
func TestNoWayThroughTheSchemaPassesTheWall(t *testing.T) {
	t.Parallel()
	shows := func(body string) bool {
		return strings.Contains(body, hiddenHandle) || strings.Contains(body, hiddenTitle)
	}
	byName := []string{"node", "nodes", "user"}
	for name, c := range map[string]struct {
		hide func(t *testing.T, v *walled)
		// mayShow tells whether the hidden person's handle may be in an answer.
		mayShow func(way) bool
	}{
		"blocked by whom one asks for": {
			func(t *testing.T, v *walled) { v.hidden.relate(t, "block", v.viewer) },
			func(way) bool { return false },
		},
		"suspended": {
			func(t *testing.T, v *walled) { v.setStatus(t, v.hidden, social.Suspended) },
			func(way) bool { return false },
		},
		"blocked by oneself": {
			func(t *testing.T, v *walled) { v.viewer.relate(t, "block", v.hidden) },
			func(w way) bool {
				return !w.asksOpen && (slices.Contains(byName, w.root) || strings.HasPrefix(w.operation, "mutation")) || w.root == "blockedUsers"
			},
		},
		"private": {
			func(t *testing.T, v *walled) {
				v.viewer.relate(t, "unfollow", v.hidden)
				v.hidden.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
			},
			func(way) bool { return true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newWalled(t, newWorld(t, socialtest.NewSQLite(t))) // what the rule reads is held on both stores in db
			c.hide(t, v)
			v.viewer.asked(t, v.ways(t), func(w way, body string) {
				switch {
				case shows(body) && !c.mayShow(w), strings.Contains(body, hiddenTitle):
					t.Errorf("%s\nshows %s", w.operation, body)
				case !w.asksOpen && strings.HasPrefix(w.operation, "query") && strings.Contains(body, openHandle):
					t.Errorf("%s\nshows whom only a hidden list has: %s", w.operation, body)
				}
			})
		})
	}
}
