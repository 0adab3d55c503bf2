// Package web serves Kith's page: GraphiQL with example operations, built from web/src into
// web/dist by scripts/web.sh and embedded, so that it loads from no other host.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// Page is what the page needs to know. The zero Page works: /graphql, signed out, no examples.
type Page struct {
	// Endpoint is the path of the GraphQL endpoint on the page's own host; "/graphql" when
	// empty. The page's Content-Security-Policy lets it talk to no other host.
	Endpoint string `json:"endpoint"`
	// Token signs the visitor in: it stands as `Authorization: Bearer <Token>` in the
	// headers editor, where it can be seen and replaced. Empty means signed out. Whoever
	// can load the page can read it.
	Token string `json:"token"`
	// Tabs are opened on the visitor's first visit, and again whenever they changed.
	Tabs []Tab `json:"tabs"`
}

// Tab is an example operation.
type Tab struct {
	// Name is the tab's title. Make it the operation's name: GraphiQL shows that one as soon
	// as the tab was opened.
	Name string `json:"name"`
	// Query is the GraphQL document, as the editor shows it.
	Query string `json:"query"`
	// Variables is a JSON object as text, or empty.
	Variables string `json:"variables"`
}

// policy allows what the page needs and no more: Monaco sets styles from script, and its
// style sheet carries fonts and pictures as data.
const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; " +
	"img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// slot is where the built index.html takes the Page.
const slot = `<script type="application/json" id="kith">{}</script>`

// Handler serves the page at / and its files beside it; all else is 404. The page is
// rendered here, once.
func Handler(cfg Page) http.Handler {
	mux := http.NewServeMux()
	for name, file := range files() {
		mux.Handle("GET /"+name, file)
	}
	page := newFile("index.html", render(cfg))
	page.header.Set("Content-Security-Policy", policy)
	page.header.Set("Referrer-Policy", "no-referrer")
	mux.Handle("GET /{$}", page)
	return mux
}

// files are those that are the same for every Page, compressed once for all.
var files = sync.OnceValue(func() map[string]file {
	all := map[string]file{}
	for _, name := range names() {
		if name != "index.html" {
			all[name] = newFile(name, read(name))
		}
	}
	return all
})

// render fills cfg into index.html. encoding/json writes <, > and & as \u003c and so on:
// no text of cfg can end the script element.
func render(cfg Page) []byte {
	data, err := json.Marshal(cfg)
	if err != nil {
		panic(fmt.Sprintf("web: encode the page: %v", err)) // strings always encode
	}
	html := read("index.html")
	if !bytes.Contains(html, []byte(slot)) {
		panic("web: dist/index.html has no place for the page's data: run scripts/web.sh")
	}
	return bytes.Replace(html, []byte(slot), []byte(strings.Replace(slot, "{}", string(data), 1)), 1)
}

// names lists the embedded files, relative to dist.
func names() []string {
	var list []string
	err := fs.WalkDir(dist, "dist", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			list = append(list, strings.TrimPrefix(path, "dist/"))
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("web: list the embedded files: %v", err)) // they are in the binary
	}
	return list
}

func read(name string) []byte {
	data, err := dist.ReadFile("dist/" + name)
	if err != nil {
		panic(fmt.Sprintf("web: read an embedded file: %v", err)) // it is in the binary
	}
	return data
}

func etag(data []byte) string {
	sum := sha256.Sum256(data)
	// Weak: one tag stands for the plain and the compressed bytes.
	return fmt.Sprintf(`W/"%x"`, sum[:12])
}
