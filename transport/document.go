package transport

import (
	"context"
	"errors"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"kith/social"
)

const (
	// maxQueryText bounds the text of a document in bytes, and with it what the cache holds.
	maxQueryText = 32 << 10
	// maxTokens bounds the parser: validation is quadratic in places.
	maxTokens = 2000
	// cachedDocuments is how many checked documents are kept.
	cachedDocuments = 1000
)

// document is a text that was parsed, found within the limits, and valid.
type document struct {
	ast    *ast.QueryDocument
	shapes map[*ast.OperationDefinition]shape
	// uses lists where each operation has its variables.
	uses map[*ast.OperationDefinition][]*ast.Value
}

// documents turns texts into documents and remembers the good ones.
type documents struct {
	schema        *ast.Schema
	introspection bool
	// quietRules make no suggestions.
	rules, quietRules []core.Rule
	cache             *lru.Cache[string, *document]
}

func newDocuments(schema *ast.Schema, introspection bool) *documents {
	cache, err := lru.New[string, *document](cachedDocuments)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &documents{
		schema:        schema,
		introspection: introspection,
		rules:         validationRules(introspection),
		quietRules:    validationRules(false),
		cache:         cache,
	}
}

// of gives the document of a text, or the errors to answer with.
func (d *documents) of(text string) (*document, gqlerror.List) {
	if doc, ok := d.cache.Get(text); ok {
		return doc, nil
	}
	doc, errs := d.check(text)
	if errs != nil {
		return nil, errs
	}
	d.cache.Add(text, doc)
	return doc, nil
}

// check parses and checks a text. The limits come before the rules of validation, which
// would do the work that the limits are there to refuse.
func (d *documents) check(text string) (*document, gqlerror.List) {
	if len(text) > maxQueryText {
		return nil, gqlerror.List{tooComplex("the query is longer than %d bytes", maxQueryText)}
	}
	parsed, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err != nil {
		return nil, gqlerror.List{syntaxError(err)}
	}
	if len(parsed.Operations) == 0 {
		return nil, gqlerror.List{fault(social.BadUserInput, "", "the document has no operation")}
	}
	doc := &document{ast: parsed}
	var excess *gqlerror.Error
	if doc.shapes, excess = d.measure(parsed); excess != nil {
		return nil, gqlerror.List{excess}
	}
	var errs gqlerror.List
	if doc.uses, errs = d.validate(text, parsed); errs != nil {
		return nil, errs
	}
	withoutDefer(parsed)
	return doc, nil
}

// syntaxError tells what the parser found. It has no type for its own limits.
func syntaxError(err error) *gqlerror.Error {
	var found *gqlerror.Error
	if !errors.As(err, &found) {
		return fault(social.BadUserInput, "", "the query can't be parsed")
	}
	if strings.HasPrefix(found.Message, "exceeded ") {
		return tooComplex("the query can't be parsed: %s", found.Message)
	}
	told := fault(social.BadUserInput, "", "%s", found.Message)
	told.Locations = found.Locations
	return told
}

// operation picks the operation to run.
func (doc *document) operation(name string) (*ast.OperationDefinition, *gqlerror.Error) {
	if op := doc.ast.Operations.ForName(name); op != nil {
		return op, nil
	}
	if name == "" {
		return nil, fault(social.BadUserInput, "", "the document has several operations: operationName is to say which")
	}
	return nil, fault(social.BadUserInput, "", "the document has no operation of that operationName")
}

// withoutDefer takes @defer out of a valid document, so that its fields come with the
// others: gqlgen would answer null in their place and, by plain HTTP, never the rest.
func withoutDefer(doc *ast.QueryDocument) {
	for _, op := range doc.Operations {
		undefer(op.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		undefer(fragment.SelectionSet)
	}
}

func undefer(set ast.SelectionSet) {
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			undefer(it.SelectionSet)
		case *ast.InlineFragment:
			it.Directives = exceptDefer(it.Directives)
			undefer(it.SelectionSet)
		case *ast.FragmentSpread:
			it.Directives = exceptDefer(it.Directives)
		}
	}
}

func exceptDefer(list ast.DirectiveList) ast.DirectiveList {
	if list.ForName("defer") == nil {
		return list
	}
	kept := make(ast.DirectiveList, 0, len(list)-1)
	for _, directive := range list {
		if directive.Name != "defer" {
			kept = append(kept, directive)
		}
	}
	return kept
}

type documentKey struct{}

// handedDocument is the executor's query cache. It always has the document, since that
// travels in the context: the executor never parses on its own.
type handedDocument struct{}

// Get gives the document that was checked for this request.
func (handedDocument) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	doc, ok := ctx.Value(documentKey{}).(*document)
	if !ok {
		return nil, false
	}
	return doc.ast, true
}

// Add is never called: Get always has it.
func (handedDocument) Add(context.Context, string, *ast.QueryDocument) {}
