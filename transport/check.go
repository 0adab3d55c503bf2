package transport

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// checkVariables refuses what gqlparser takes for a variable and the contract does not.
func (doc *document) checkVariables(schema *ast.Schema, op *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	for _, use := range doc.uses[op] {
		v, given := variables[use.Raw]
		switch {
		case !given:
		case v == nil && use.ExpectedType.NonNull:
			// The default of the variable made that valid, but a null that is sent overrides
			// the default; gqlgen panics over it in @skip and passes "" or "null" for it to
			// resolvers.
			return fault(social.BadUserInput, doc.nameAt(use), "$%s: cannot be null", use.Raw)
		case textForInt(schema, use.VariableDefinition.Type, v):
			return fault(social.BadUserInput, doc.nameAt(use), "$%s: cannot use text as Int", use.Raw)
		}
	}
	return nil
}

// textForInt says whether v holds "5" where 5 is wanted.
func textForInt(schema *ast.Schema, t *ast.Type, v any) bool {
	switch v := v.(type) {
	case string:
		return t.Name() == "Int"
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return textForInt(schema, t, item) })
	case map[string]any:
		for _, field := range schema.Types[t.Name()].Fields {
			if textForInt(schema, field.Type, v[field.Name]) {
				return true
			}
		}
	}
	return false
}

// nameAt is the argument or input field that a variable stands for.
func (doc *document) nameAt(use *ast.Value) string {
	return inputNames(doc.ast)[gqlerror.Location{Line: use.Position.Line, Column: use.Position.Column}]
}

// variableError tells an error about the value of a variable, whose path begins with
// "variable" and leads to the value at fault; list indexes name nothing. Where the whole
// variable is at fault, so is the argument or input field that it stands for.
func (doc *document) variableError(op *ast.OperationDefinition, err *gqlerror.Error) *gqlerror.Error {
	message := inWords(err.Message)
	var steps []string
	for _, step := range err.Path {
		if name, ok := step.(ast.PathName); ok {
			steps = append(steps, string(name))
		}
	}
	if len(steps) < 2 {
		return fault(social.BadUserInput, "", "%s", message)
	}
	steps = steps[1:]
	field := steps[len(steps)-1]
	if len(steps) == 1 {
		if at := slices.IndexFunc(doc.uses[op], func(use *ast.Value) bool { return use.Raw == field }); at >= 0 {
			field = doc.nameAt(doc.uses[op][at])
		}
	}
	if !isName(field) {
		// The client's own key: any text of any length.
		return fault(social.BadUserInput, "", "$%s: %s", strings.Join(steps[:len(steps)-1], "."), message)
	}
	return fault(social.BadUserInput, field, "$%s: %s", strings.Join(steps, "."), message)
}
