package transport

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// What one operation may have, fragments counted each time they are spread.
const (
	maxDepth      = 12
	maxAliases    = 30
	maxRootFields = 20
	maxDirectives = 50
	// maxIntrospectionDepth replaces maxDepth below __schema and __type: the query of
	// GraphiQL, Relay and Apollo is 15 deep, most of that a chain of ofType.
	maxIntrospectionDepth = 20
	// maxFields bounds the fields of all operations of a document together. That query
	// has 229.
	maxFields = 500
	// maxWalked bounds what the rules of validation walk through: each operation, and
	// then each fragment once more with all that it spreads.
	maxWalked = 4 * maxFields
	// maxCompared bounds the pairs of fields of one name that validation compares: on
	// each of those walks, and again in each inline fragment around them. 490 times the
	// same field in a fragment that three others spread are half a million pairs; who
	// asks for ten fields twice has 50.
	maxCompared = 20_000
)

// plenty is where counting stops, far above every limit; the sum and the product of two
// such counts fit in an int.
const plenty = 1 << 30

// shape is what a selection set amounts to with its fragments spread out.
type shape struct {
	fields, aliases, directives int
	// roots are the fields of the set itself.
	roots int
	// compared is an upper bound of the pairs of fields in conflict over a name.
	compared int
	// depth is how deep fields nest, introspection how deep below __schema and __type.
	depth, introspection int
}

// and is the shape of a set that holds both.
func (s shape) and(other shape) shape {
	return shape{
		fields:        min(plenty, s.fields+other.fields),
		aliases:       min(plenty, s.aliases+other.aliases),
		directives:    min(plenty, s.directives+other.directives),
		roots:         min(plenty, s.roots+other.roots),
		compared:      min(plenty, s.compared+other.compared),
		depth:         max(s.depth, other.depth),
		introspection: max(s.introspection, other.introspection),
	}
}

// meter takes the shapes of one document. It looks into each fragment once, however often
// that is spread: else 26 fragments of two spreads each take 2^26 steps.
type meter struct {
	fragments map[string]*ast.FragmentDefinition
	// measured holds the fragments met; one that is still being measured has the zero
	// shape, which ends a cycle. Validation refuses cycles afterwards.
	measured map[string]shape
	// visits counts the selections looked at.
	visits int
}

func newMeter(doc *ast.QueryDocument) *meter {
	m := &meter{
		fragments: make(map[string]*ast.FragmentDefinition, len(doc.Fragments)),
		measured:  make(map[string]shape, len(doc.Fragments)),
	}
	for _, f := range doc.Fragments {
		m.fragments[f.Name] = f
	}
	return m
}

func (m *meter) set(set ast.SelectionSet) shape {
	sum := shape{compared: pairs(set)}
	for _, selection := range set {
		m.visits++
		switch it := selection.(type) {
		case *ast.Field:
			sum = sum.and(m.field(it))
		case *ast.InlineFragment:
			sum = sum.and(m.set(it.SelectionSet))
			sum.directives += len(it.Directives)
		case *ast.FragmentSpread:
			sum = sum.and(m.fragment(it.Name))
			sum.directives += len(it.Directives)
		}
	}
	return sum
}

func (m *meter) field(f *ast.Field) shape {
	s := m.set(f.SelectionSet)
	s.fields++
	s.roots = 1
	s.directives += len(f.Directives)
	if f.Alias != f.Name {
		s.aliases++
	}
	if f.Name == "__schema" || f.Name == "__type" {
		s.introspection = max(s.introspection, s.depth+1)
		s.depth = 1
		return s
	}
	s.depth++
	return s
}

func (m *meter) fragment(name string) shape {
	if s, ok := m.measured[name]; ok {
		return s
	}
	f := m.fragments[name]
	if f == nil {
		return shape{} // unknown: for validation to tell
	}
	m.measured[name] = shape{}
	s := m.set(f.SelectionSet)
	s.directives += len(f.Directives)
	m.measured[name] = s
	return s
}

// measure gives the shape of each operation, or the limit that the document passes.
func (d *documents) measure(doc *ast.QueryDocument) (map[*ast.OperationDefinition]shape, *gqlerror.Error) {
	m := newMeter(doc)
	shapes := make(map[*ast.OperationDefinition]shape, len(doc.Operations))
	fields := 0
	for _, op := range doc.Operations {
		s := m.set(op.SelectionSet)
		s.directives += len(op.Directives)
		for _, v := range op.VariableDefinitions {
			s.directives += len(v.Directives)
		}
		if err := d.excess(s); err != nil {
			return nil, err
		}
		shapes[op] = s
		fields = min(plenty, fields+s.fields)
	}
	walked, compared := fields, 0
	for _, s := range shapes {
		compared = min(plenty, compared+s.compared)
	}
	for _, f := range doc.Fragments {
		s := m.fragment(f.Name)
		walked = min(plenty, walked+s.fields)
		compared = min(plenty, compared+s.compared)
	}
	switch {
	case fields > maxFields:
		return nil, tooMany(fields, "fields", maxFields)
	case walked > maxWalked:
		return nil, tooMany(walked, "fields in all fragments together", maxWalked)
	case compared > maxCompared:
		return nil, tooMany(compared, "pairs of fields of one name", maxCompared)
	}
	return shapes, nil
}

func (d *documents) excess(s shape) *gqlerror.Error {
	switch {
	case s.introspection > 0 && !d.introspection:
		return fault(social.BadUserInput, "", "introspection is off")
	case s.depth > maxDepth:
		return tooMany(s.depth, "levels", maxDepth)
	case s.introspection > maxIntrospectionDepth:
		return tooMany(s.introspection, "levels of introspection", maxIntrospectionDepth)
	case s.aliases > maxAliases:
		return tooMany(s.aliases, "aliases", maxAliases)
	case s.roots > maxRootFields:
		return tooMany(s.roots, "root fields", maxRootFields)
	case s.directives > maxDirectives:
		return tooMany(s.directives, "directives", maxDirectives)
	}
	return nil
}

func tooMany(n int, what string, limit int) *gqlerror.Error {
	if n >= plenty {
		return tooComplex("the query has countless %s; %d are allowed", what, limit)
	}
	return tooComplex("the query has %d %s; %d are allowed", n, what, limit)
}
