package transport

import "github.com/vektah/gqlparser/v2/ast"

// textBytes is the longest text, in UTF-8 and before JSON escapes it, that each field of
// strings may give: as many bytes as the store takes, 4 for each character. A list counts
// with all that it holds. A field of strings that is not here fails a test: name it, or
// [document.costOf] takes a novel for a word.
var textBytes = map[string]int{
	"AuthPayload.token":             400,
	"Blog.content":                  40_000, // 10,000 characters
	"Blog.imageUrls":                18_432, // 9 of 2,048 bytes
	"Blog.title":                    480,    // 120 characters
	"BlogConnection.liveCursor":     otherBytes,
	"BlogEdge.cursor":               otherBytes,
	"NotificationEdge.cursor":       otherBytes,
	"NotificationUpdate.removedIds": 5_000, // 100 ids of 48 bytes
	"PageInfo.endCursor":            otherBytes,
	"PageInfo.startCursor":          otherBytes,
	"User.avatarUrl":                2_048,
	"User.bio":                      2_000, // 500 characters
	"User.handle":                   otherBytes,
	"User.name":                     200, // 50 characters
	"UserEdge.cursor":               otherBytes,
}

// otherBytes is what a number, a time, an id, a cursor or the name of a type never passes.
const otherBytes = 100

// leafBytes bounds what one value of a field without a selection takes.
func leafBytes(f *ast.Field) int {
	if n, ok := textBytes[f.ObjectDefinition.Name+"."+f.Name]; ok {
		return n
	}
	return otherBytes
}
