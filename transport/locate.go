package transport

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// toldErrors puts errors of validation into the form that clients get, each with the
// argument or input field at fault where there is one.
func toldErrors(doc *ast.QueryDocument, found gqlerror.List) gqlerror.List {
	names := inputNames(doc)
	told := make(gqlerror.List, len(found))
	for i, err := range found {
		field := missingName(err)
		if field == "" && len(err.Locations) > 0 {
			field = names[err.Locations[0]]
		}
		told[i] = fault(social.BadUserInput, field, "%s", err.Message)
		told[i].Locations = err.Locations
	}
	return told
}

// missingName is the input named by an error that stands at the place around it, since
// the input itself is absent or unknown. Only the message has that name; it is a name of
// the grammar, so quotes end it.
func missingName(err *gqlerror.Error) string {
	var name string
	switch rule, _, _ := strings.Cut(err.Rule, "WithoutSuggestions"); rule {
	case "KnownArgumentNames":
		name = between(err.Message, `Unknown argument "`, `"`)
	case "ProvidedRequiredArguments":
		name = between(err.Message, `argument "`, `"`)
	case "ValuesOfCorrectType":
		if name = between(err.Message, `Field "`, `" of required type`); name != "" {
			_, name, _ = strings.Cut(name, ".")
		}
	}
	return name
}

func between(s, before, after string) string {
	_, s, ok := strings.Cut(s, before)
	if !ok {
		return ""
	}
	s, _, ok = strings.Cut(s, after)
	if !ok {
		return ""
	}
	return s
}

// inputNames gives for the place of each argument, input field and value of a document
// the nearest name: that of the argument or input field. Built only to tell errors.
func inputNames(doc *ast.QueryDocument) map[gqlerror.Location]string {
	n := names{}
	for _, op := range doc.Operations {
		for _, v := range op.VariableDefinitions {
			n.value(v.Variable, v.DefaultValue)
		}
		n.directives(op.Directives)
		n.set(op.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		n.directives(fragment.Directives)
		n.set(fragment.SelectionSet)
	}
	return n
}

type names map[gqlerror.Location]string

func (n names) put(p *ast.Position, name string) {
	if p != nil {
		n[gqlerror.Location{Line: p.Line, Column: p.Column}] = name
	}
}

func (n names) set(set ast.SelectionSet) {
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			n.arguments(it.Arguments)
			n.directives(it.Directives)
			n.set(it.SelectionSet)
		case *ast.InlineFragment:
			n.directives(it.Directives)
			n.set(it.SelectionSet)
		case *ast.FragmentSpread:
			n.directives(it.Directives)
		}
	}
}

func (n names) directives(list ast.DirectiveList) {
	for _, directive := range list {
		n.arguments(directive.Arguments)
	}
}

func (n names) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		n.put(argument.Position, argument.Name)
		n.value(argument.Name, argument.Value)
	}
}

func (n names) value(name string, v *ast.Value) {
	if v == nil {
		return
	}
	n.put(v.Position, name)
	for _, child := range v.Children {
		inner := name
		if child.Name != "" {
			inner = child.Name
			n.put(child.Position, inner)
		}
		n.value(inner, child.Value)
	}
}
