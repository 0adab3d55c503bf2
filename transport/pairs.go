package transport

import "github.com/vektah/gqlparser/v2/ast"

// group is what one set asks for under one name.
type group struct {
	// members are the fields of that name, size those with all below them.
	members, size int
}

// pairs bounds the comparisons that validation makes within one set to find fields of one
// name that differ: each member of a group with each other, and all below them likewise.
// Inline fragments belong to the set. Comparisons with named fragments are made once each
// and need no bound but that on fields.
func pairs(set ast.SelectionSet) int {
	if len(set) < 2 && !startsInline(set) {
		return 0
	}
	groups := make(map[string]group, len(set))
	collect(set, groups)
	sum := 0
	for _, g := range groups {
		if g.members > 1 {
			sum += g.size * g.size / 2
		}
	}
	return sum
}

func startsInline(set ast.SelectionSet) bool {
	if len(set) == 0 {
		return false
	}
	_, ok := set[0].(*ast.InlineFragment)
	return ok
}

func collect(set ast.SelectionSet, groups map[string]group) {
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			g := groups[it.Alias]
			g.members++
			g.size += sizeOf(it)
			groups[it.Alias] = g
		case *ast.InlineFragment:
			collect(it.SelectionSet, groups)
		}
	}
}

// sizeOf counts a field and those written below it.
func sizeOf(f *ast.Field) int {
	return 1 + fieldsIn(f.SelectionSet)
}

func fieldsIn(set ast.SelectionSet) int {
	n := 0
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			n += sizeOf(it)
		case *ast.InlineFragment:
			n += fieldsIn(it.SelectionSet)
		}
	}
	return n
}
