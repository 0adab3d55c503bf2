package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// types are the content types of all that a build may hold. Go's own table is extended by
// the machine's /etc/mime.types, which may be missing or say otherwise.
var types = map[string]string{
	".css":   "text/css; charset=utf-8",
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".json":  "application/json",
	".md":    "text/plain; charset=utf-8",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".ttf":   "font/ttf",
	".wasm":  "application/wasm",
	".woff2": "font/woff2",
}

// file answers with one embedded file, compressed for those who take gzip.
type file struct {
	header http.Header
	plain  []byte
	// zipped compresses on the first call: the whole page takes a third of a second, too
	// long for every start.
	zipped func() []byte
}

func newFile(name string, data []byte) file {
	header := http.Header{}
	header.Set("Content-Type", contentType(name))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept-Encoding")
	if strings.HasPrefix(name, "assets/") { // Vite names these by their content
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		header.Set("Cache-Control", "no-cache")
		header.Set("ETag", etag(data))
	}
	return file{header, data, sync.OnceValue(func() []byte { return compress(data) })}
}

func contentType(name string) string {
	if kind, ok := types[path.Ext(name)]; ok {
		return kind
	}
	return "application/octet-stream"
}

func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	data := f.plain
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		data = f.zipped()
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// acceptsGzip reads an Accept-Encoding header such as "br;q=1.0, gzip;q=0.8".
func acceptsGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		coding, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		weight, given := strings.CutPrefix(strings.TrimSpace(params), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}

func compress(data []byte) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, err := zip.Write(data)
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("web: compress a file: %v", err)) // a buffer takes all
	}
	return out.Bytes()
}
