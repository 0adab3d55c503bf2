package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ask sends one request to a handler; header is pairs of name and value.
func ask(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func status(t *testing.T, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Errorf("status %d, want %d", w.Code, want)
	}
}

// asset is the path of an embedded file with that ending.
func asset(t *testing.T, ending string) string {
	t.Helper()
	for _, name := range names() {
		if strings.HasPrefix(name, "assets/") && strings.HasSuffix(name, ending) {
			return "/" + name
		}
	}
	t.Fatalf("no %s is embedded", ending)
	return ""
}

func TestHeaders(t *testing.T) {
	h := Handler(Page{})
	t.Run("the_page_is_asked_for_anew", func(t *testing.T) {
		w := ask(h, "GET", "/")
		status(t, w, http.StatusOK)
		equal(t, "the type", w.Header().Get("Content-Type"), "text/html; charset=utf-8")
		equal(t, "the caching", w.Header().Get("Cache-Control"), "no-cache")
		equal(t, "the sniffing", w.Header().Get("X-Content-Type-Options"), "nosniff")
		equal(t, "the referrer", w.Header().Get("Referrer-Policy"), "no-referrer")
		contains(t, "the policy", w.Header().Get("Content-Security-Policy"), "default-src 'self';")
	})
	t.Run("an_unchanged_page_is_not_sent_again", func(t *testing.T) {
		tag := ask(h, "GET", "/").Header().Get("ETag")
		status(t, ask(h, "GET", "/", "If-None-Match", tag), http.StatusNotModified)
		changed := Handler(Page{Token: "another"})
		status(t, ask(changed, "GET", "/", "If-None-Match", tag), http.StatusOK)
	})
	t.Run("assets_are_kept_for_ever", func(t *testing.T) {
		for ending, kind := range map[string]string{
			".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".ttf": "font/ttf",
		} {
			w := ask(h, "GET", asset(t, ending))
			status(t, w, http.StatusOK)
			equal(t, "the type", w.Header().Get("Content-Type"), kind)
			equal(t, "the caching", w.Header().Get("Cache-Control"), "public, max-age=31536000, immutable")
			equal(t, "the sniffing", w.Header().Get("X-Content-Type-Options"), "nosniff")
		}
	})
	t.Run("every_file_has_a_known_type", func(t *testing.T) {
		for _, name := range names() {
			if contentType(name) == "application/octet-stream" {
				t.Errorf("%s: its ending is not among the types", name)
			}
		}
	})
}

func TestRequests(t *testing.T) {
	h := Handler(Page{})
	t.Run("unknown_paths_are_404", func(t *testing.T) {
		for _, path := range []string{"/index.html", "/assets/", "/assets", "/nothing", "/graphql", "/dist/"} {
			status(t, ask(h, "GET", path), http.StatusNotFound)
		}
	})
	t.Run("only_get_and_head_are_allowed", func(t *testing.T) {
		for _, path := range []string{"/", asset(t, ".js")} {
			w := ask(h, "POST", path)
			status(t, w, http.StatusMethodNotAllowed)
			equal(t, "Allow", w.Header().Get("Allow"), "GET, HEAD")
			w = ask(h, "HEAD", path)
			status(t, w, http.StatusOK)
			equal(t, "the body", w.Body.String(), "")
		}
	})
	t.Run("gzip_is_sent_to_who_takes_it", func(t *testing.T) {
		path := asset(t, ".js")
		plain := ask(h, "GET", path).Body.Bytes()
		w := ask(h, "GET", path, "Accept-Encoding", "br, gzip;q=0.8")
		equal(t, "the encoding", w.Header().Get("Content-Encoding"), "gzip")
		equal(t, "Vary", w.Header().Get("Vary"), "Accept-Encoding")
		unzip, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(unzip); err != nil || !bytes.Equal(data, plain) {
			t.Errorf("unpacked, it is not the file (%v)", err)
		}
	})
	t.Run("gzip_is_not_sent_to_who_refuses_it", func(t *testing.T) {
		for _, accept := range []string{"", "br", "gzip;q=0", "gzip; q=0.0", "identity, gzip;q=x", "xgzip"} {
			w := ask(h, "GET", "/", "Accept-Encoding", accept)
			equal(t, "the encoding for "+accept, w.Header().Get("Content-Encoding"), "")
		}
	})
}

func TestConfig(t *testing.T) {
	t.Run("no_text_ends_the_script_element", func(t *testing.T) {
		const evil = "</script><script>alert(1)</script><!-- \u2028 \" \\ $1 {}"
		cfg := Page{Endpoint: evil, Token: evil, Tabs: []Tab{{Name: evil, Query: evil, Variables: evil}}}
		html := ask(Handler(cfg), "GET", "/").Body.String()
		if strings.Contains(html, "alert(1)<") || strings.Contains(html, "<script>alert") {
			t.Error("the text is part of the page's markup")
		}
		_, rest, _ := strings.Cut(html, `id="kith">`)
		data, _, _ := strings.Cut(rest, "</script>")
		var got Page
		if err := json.Unmarshal([]byte(data), &got); err != nil || !reflect.DeepEqual(got, cfg) {
			t.Errorf("the page gets %+v, want %+v (%v)", got, cfg, err)
		}
	})
	t.Run("the_handler_works_below_a_path", func(t *testing.T) {
		h := http.StripPrefix("/ui", Handler(Page{}))
		status(t, ask(h, "GET", "/ui/"), http.StatusOK)
		status(t, ask(h, "GET", "/ui"+asset(t, ".css")), http.StatusOK)
	})
}

func TestBuild(t *testing.T) {
	t.Run("what_the_page_refers_to_is_there", func(t *testing.T) {
		h := Handler(Page{})
		found := regexp.MustCompile(`(?:src|href)="\./([^"]+)"`).FindAllSubmatch(read("index.html"), -1)
		if len(found) < 3 {
			t.Fatalf("index.html refers to %d files only", len(found))
		}
		for _, match := range found {
			status(t, ask(h, "GET", "/"+string(match[1])), http.StatusOK)
		}
	})
	t.Run("what_the_files_refer_to_is_there", func(t *testing.T) {
		// Two plain beginnings, not one of two kinds: those regexp finds ten times faster.
		for _, begin := range []string{`\./`, `assets/`} {
			chunk := regexp.MustCompile(begin + `([\w.-]+\.(?:js|css|ttf))["'` + "`" + `)]`)
			for _, name := range names() {
				for _, match := range chunk.FindAllSubmatch(read(name), -1) {
					if !slices.Contains(names(), "assets/"+string(match[1])) {
						t.Errorf("%s refers to %s, which is not embedded", name, match[1])
					}
				}
			}
		}
	})
	t.Run("no_file_loads_from_another_host", func(t *testing.T) {
		for _, name := range names() {
			if name == "licenses.md" {
				continue // nothing reads it but people
			}
			for _, hit := range foreign(read(name)) {
				t.Errorf("%s: %s", name, hit)
			}
		}
	})
	t.Run("what_would_load_is_found", func(t *testing.T) {
		for _, text := range []string{
			`<script src="https://a.example/x.js">`, `<link rel=stylesheet href="//a.example/x.css">`,
			`url(https://a.example/x.woff)`, `@import "http://a.example";`, "import(`https://a.example`)",
			`import x from"https://a.example"`, `fetch("https://a.example")`, `new Worker('//a.example')`,
		} {
			if len(foreign([]byte(text))) == 0 {
				t.Errorf("not found in %s", text)
			}
		}
	})
}

// loads matches what stands before an address that is loaded, not merely named or linked.
var loads = regexp.MustCompile(`(?i)(?:(?:src|srcset)\s*[=:]\s*["'` + "`" + `]?|<link[^>]*href=["']?|url\(\s*["']?|` +
	`@import\s*["']|(?:\bimport|\bfrom|importScripts|fetch|Worker)\s*\(?\s*["'` + "`" + `])(?:https?:)?$`)

// foreign finds the addresses of other hosts that text loads from.
func foreign(text []byte) []string {
	var hits []string
	for at := 0; ; at += 2 {
		next := bytes.Index(text[at:], []byte("//"))
		if next < 0 {
			return hits
		}
		at += next
		if loads.Match(text[max(0, at-60):at]) {
			hits = append(hits, string(text[max(0, at-60):min(len(text), at+40)]))
		}
	}
}
