package transport

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// validationRules are those of the GraphQL specification. Without suggestions, messages
// tell nothing of the schema that was not asked for.
func validationRules(suggestions bool) []core.Rule {
	set := rules.NewDefaultRules()
	if !suggestions {
		for _, quiet := range []core.Rule{
			rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
			rules.KnownArgumentNamesRuleWithoutSuggestions,
			rules.KnownTypeNamesRuleWithoutSuggestions,
			rules.ScalarLeafsRuleWithoutSuggestions,
			rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
		} {
			set.RemoveRule(strings.TrimSuffix(quiet.Name, "WithoutSuggestions"))
			set.AddRule(quiet.Name, quiet.RuleFunc)
		}
	}
	list := make([]core.Rule, 0, len(set.GetInner()))
	for name, check := range set.GetInner() {
		list = append(list, core.Rule{Name: name, RuleFunc: check})
	}
	slices.SortFunc(list, func(a, b core.Rule) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// enough is thrown through the walk, which knows no other way to be stopped, when there
// are as many errors as an answer may have. 500 unknown fields, reached again from every
// fragment, would be as many errors with as many suggestions.
type enough struct{}

// longestSuggested is the length up to which a name may be a slip of the pen. Comparing a
// longer one with the names of the schema costs milliseconds each time.
const longestSuggested = 64

// rulesFor picks the rules without suggestions for a text with a longer word in it.
func (d *documents) rulesFor(text string) []core.Rule {
	word := 0
	for _, c := range []byte(text) {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			word = 0
		} else if word++; word > longestSuggested {
			return d.quietRules
		}
	}
	return d.rules
}

// validate walks the document under all rules, and notes where it has variables.
func (d *documents) validate(text string, doc *ast.QueryDocument) (uses map[*ast.OperationDefinition][]*ast.Value, errs gqlerror.List) {
	defer func() {
		if v := recover(); v != nil && v != (enough{}) {
			panic(v)
		}
		if errs != nil {
			uses, errs = nil, toldErrors(doc, errs)
		}
	}()
	observers := &core.Events{}
	for _, rule := range d.rulesFor(text) {
		rule.RuleFunc(observers, func(options ...core.ErrorOption) {
			err := &gqlerror.Error{Rule: rule.Name}
			for _, option := range options {
				option(err)
			}
			if errs = append(errs, err); len(errs) == maxErrors {
				panic(enough{})
			}
		})
	}
	uses = make(map[*ast.OperationDefinition][]*ast.Value)
	observers.OnValue(func(w *core.Walker, v *ast.Value) {
		if v.Kind == ast.Variable && w.CurrentOperation != nil && v.VariableDefinition != nil && v.ExpectedType != nil {
			uses[w.CurrentOperation] = append(uses[w.CurrentOperation], v)
		}
	})
	validator.Walk(d.schema, doc, observers)
	return uses, errs
}
