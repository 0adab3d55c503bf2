package transport

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

const (
	// maxNodes is how many entries the lists of one operation may hold together.
	maxNodes = 5000
	// probedNodes is what a list of people whom the viewer shares with somebody counts beside
	// its entries: to fill a page, all whom the viewer follows may have to be looked up.
	probedNodes = 20
	// maxWritten bounds the fields that an answer writes: each as often as the lists around
	// it have entries. Most resolvers are behind one of them.
	maxWritten = 50_000
	// maxText bounds the text of an answer in bytes. A hundred blogs with all there is to
	// know of them and their authors are 6.4 MB.
	maxText = 16 << 20
	// maxIntrospected is the same for __schema and __type, where the list of all types
	// counts as one entry so that the limit needs not grow with the schema. The query of
	// GraphiQL counts 109.
	maxIntrospected = 300
	// introspectedList is what any other list of introspection is taken to hold.
	introspectedList = 6
)

// cost is what was counted of an operation: extensions.cost of its answer.
type cost struct {
	// Nodes is how many entries its lists may hold, Values how many fields its answer may
	// write and Bytes how long their text may be, Fields how many fields it has with
	// fragments spread out, Depth how deep they nest.
	Nodes  int `json:"nodes"`
	Values int `json:"values"`
	Bytes  int `json:"bytes"`
	Fields int `json:"fields"`
	Depth  int `json:"depth"`
}

// costOf counts an operation under its variables, or refuses it.
func (doc *document) costOf(op *ast.OperationDefinition, variables map[string]any) (cost, *gqlerror.Error) {
	c := counter{variables: variables, counted: map[string]size{}}
	s := c.set(op.SelectionSet)
	switch {
	case s.nodes > maxNodes:
		return cost{}, tooMany(s.nodes, "entries in its lists", maxNodes)
	case s.values > maxWritten:
		return cost{}, tooMany(s.values, "fields in its answer", maxWritten)
	case s.bytes > maxText:
		return cost{}, tooMany(s.bytes, "bytes of text in its answer", maxText)
	case s.introspected > maxIntrospected:
		return cost{}, tooMany(s.introspected, "entries in lists of introspection", maxIntrospected)
	}
	sh := doc.shapes[op]
	return cost{
		Nodes: s.nodes, Values: s.values, Bytes: s.bytes,
		Fields: sh.fields, Depth: max(sh.depth, sh.introspection),
	}, nil
}

// size is what a selection set may amount to in an answer: entries in lists, fields
// written, and bytes of their text and their keys. Introspection has a count of its own.
type size struct {
	nodes, values, bytes, introspected int
}

func (s size) and(other size) size {
	return size{
		nodes:        min(plenty, s.nodes+other.nodes),
		values:       min(plenty, s.values+other.values),
		bytes:        min(plenty, s.bytes+other.bytes),
		introspected: min(plenty, s.introspected+other.introspected),
	}
}

// times is n entries of size s in a list.
func (s size) times(n int) size {
	return size{
		nodes:        min(plenty, n*(1+s.nodes)),
		values:       min(plenty, n*s.values),
		bytes:        min(plenty, n*s.bytes),
		introspected: s.introspected, // only at the root, where nothing repeats
	}
}

// counter estimates sizes from above: what @skip leaves out counts, a field asked for
// twice counts twice, and what a connection has beside its entries counts once for each of
// them. Each fragment is counted once.
type counter struct {
	variables map[string]any
	counted   map[string]size
}

func (c *counter) set(set ast.SelectionSet) size {
	var sum size
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			sum = sum.and(c.field(it))
		case *ast.InlineFragment:
			sum = sum.and(c.set(it.SelectionSet))
		case *ast.FragmentSpread:
			s, ok := c.counted[it.Name]
			if !ok && it.Definition != nil {
				s = c.set(it.Definition.SelectionSet)
				c.counted[it.Name] = s
			}
			sum = sum.and(s)
		}
	}
	return sum
}

// field counts a field with all that is asked for below it, and that again for each of its
// entries. Its key is text that the client may make as long as it likes.
func (c *counter) field(f *ast.Field) size {
	inner := c.set(f.SelectionSet)
	if f.Definition == nil || f.ObjectDefinition == nil {
		return inner
	}
	if strings.HasPrefix(f.ObjectDefinition.Name, "__") {
		if f.Definition.Type.Elem == nil || len(f.SelectionSet) == 0 {
			return inner
		}
		return size{introspected: min(plenty, introspectedEntries(f)*(1+inner.introspected))}
	}
	self := size{values: 1, bytes: len(f.Alias)}
	if len(f.SelectionSet) == 0 {
		self.bytes += leafBytes(f)
		return self
	}
	if f.Name == "mutualFollows" || f.Name == "followersYouKnow" {
		self.nodes = probedNodes
	}
	if n, isList := c.entries(f); isList {
		return self.and(inner.times(n))
	}
	return self.and(inner)
}

func introspectedEntries(f *ast.Field) int {
	if f.Name == "types" {
		return 1
	}
	return introspectedList
}

// listBounds is how many entries those lists may have that no argument of theirs tells.
var listBounds = map[string]int{
	"FollowManyPayload.results": 100,
	"Notification.actors":       3,
}

// entries is how many entries a field asks for: as its first or last says if it pages,
// or as many as it names if it is a list made from a list. What no resolver grants
// counts as what one would, and an empty list as one entry: it is read all the same.
func (c *counter) entries(f *ast.Field) (n int, isList bool) {
	if n, isList := listBounds[f.ObjectDefinition.Name+"."+f.Name]; isList {
		return n, true
	}
	for _, arg := range f.Definition.Arguments {
		switch {
		case arg.Name == "first" || arg.Name == "last":
			isList = true
			if given, ok := wholeNumber(c.argument(f, arg)); ok {
				n = max(n, given)
			}
		case arg.Type.Elem != nil && f.Definition.Type.Elem != nil:
			if given, ok := c.argument(f, arg).([]any); ok {
				return max(1, min(len(given), plenty)), true
			}
			return 1, true // a single value stands for a list of it
		}
	}
	if isList && !c.given(f, "first") && !c.given(f, "last") {
		n = social.DefaultPage
	}
	return max(1, min(n, social.MaxPage)), isList
}

func (c *counter) given(f *ast.Field, name string) bool {
	arg := f.Definition.Arguments.ForName(name)
	return arg != nil && c.argument(f, arg) != nil
}

// argument is the value of an argument as the resolver will get it; nil when absent.
func (c *counter) argument(f *ast.Field, def *ast.ArgumentDefinition) any {
	value := def.DefaultValue
	if arg := f.Arguments.ForName(def.Name); arg != nil {
		if _, given := c.variables[arg.Value.Raw]; given || arg.Value.Kind != ast.Variable {
			value = arg.Value
		}
	}
	v, err := value.Value(c.variables)
	if err != nil {
		return nil
	}
	return v
}

// wholeNumber reads a number in any form that gqlgen would take it, but for text, which
// [document.checkVariables] refuses; it is never negative.
func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(max(0, min(v, plenty))), true
	case float64:
		return int(max(0, min(v, plenty))), true
	default:
		return 0, false
	}
}
