package transport

import "regexp"

// The messages of gqlparser (validator/vars.go) and gqlgen (graphql/*.go) about a value
// that does not fit have Go's names for it. Whole messages are matched, so that nothing
// that a client wrote is taken for one.
var (
	// "cannot use slice as ID", of a variable.
	wrongKind = regexp.MustCompile(`^cannot use (\w+) as (\w+)$`)
	// "must be a SignUpInput, not a slice", of a variable.
	wrongObject = regexp.MustCompile(`^must be an? (\w+), not an? (\w+)$`)
	// "float64 is not an int", of an argument.
	wrongType = regexp.MustCompile(`^([\w.*\[\]]+(?: \{\})?) is not an? (\w+)$`)
	// "cannot use 1e+20 as ID: ...; decode variables with json.Decoder.UseNumber".
	unsafeID = regexp.MustCompile(`^cannot use (\S+) as ID: integers beyond .*$`)
)

// valueWords are GraphQL's words for values by the Go type that holds them.
var valueWords = map[string]string{
	"slice": "a list", "[]interface {}": "a list", "[]string": "a list",
	"map": "an object", "map[string]interface {}": "an object",
	"string": "text", "bool": "a boolean",
	"int": "a number", "int64": "a number", "float64": "a number",
}

// typeWords are the types of GraphQL by the Go types of gqlgen's scalars.
var typeWords = map[string]string{
	"int": "Int", "int64": "Int", "string": "String", "bool": "Boolean", "float": "Float", "map": "an object",
}

// inWords says in GraphQL's words why a value does not fit its type.
func inWords(message string) string {
	if m := wrongKind.FindStringSubmatch(message); m != nil {
		value := word(valueWords, m[1], "this value")
		if m[1] == "float64" && (m[2] == "Int" || m[2] == "ID") {
			value = "a number with a fraction"
		}
		return "cannot use " + value + " as " + m[2]
	}
	if m := wrongObject.FindStringSubmatch(message); m != nil {
		return "must be an object (" + m[1] + "), not " + word(valueWords, m[2], "this value")
	}
	if m := wrongType.FindStringSubmatch(message); m != nil {
		value := word(valueWords, m[1], "this value")
		if m[1] == "float64" && typeWords[m[2]] == "Int" {
			value = "a number out of range" // fractions don't come this far
		}
		return "cannot use " + value + " as " + word(typeWords, m[2], "the type of this argument")
	}
	if m := unsafeID.FindStringSubmatch(message); m != nil {
		return "cannot use " + m[1] + " as ID: a whole number this large may have been rounded; send it as text"
	}
	return message
}

func word(words map[string]string, goName, otherwise string) string {
	if w, ok := words[goName]; ok {
		return w
	}
	return otherwise
}
