package web

import (
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kith/web/webtest"
)

//go:embed testdata/introspection.json
var introspection []byte

var examples = []Tab{
	{Name: "Viewer", Query: "# Who am I?\nquery Viewer {\n  viewer {\n    handle\n    name\n  }\n}\n"},
	{
		Name:      "Person",
		Query:     "query Person($handle: String!) {\n  user(handle: $handle) {\n    name\n  }\n}\n",
		Variables: "{\n  \"handle\": \"ada\"\n}",
	},
}

// site is a server whose page can be exchanged under the same address, as by a demo that is
// started anew, with a stand-in for /graphql that remembers who asked what.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	page  http.Handler
	asked []request
}

type request struct {
	Query, OperationName string
	Variables            json.RawMessage
	who                  string
}

func newSite(t *testing.T, page Page) *site {
	s := &site{page: Handler(page)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	page := s.page
	s.mu.Unlock()
	if r.URL.Path != "/graphql" {
		page.ServeHTTP(w, r)
		return
	}
	asked := request{who: r.Header.Get("Authorization")}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(asked.Query, "__schema") {
		_, _ = w.Write(introspection)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	s.mu.Unlock()
	_, _ = io.WriteString(w, `{"data":{"viewer":{"handle":"ada","name":"Ada Lovelace"}}}`)
}

func (s *site) replace(page Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = Handler(page)
}

func (s *site) last(t *testing.T) request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		t.Fatal("nothing was asked")
	}
	return s.asked[len(s.asked)-1]
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

func contains(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s is %q, want %q in it", what, got, want)
	}
}

func TestBrowser(t *testing.T) {
	for name, rule := range map[string]func(*testing.T){
		"the_page_sends_the_token":               theTokenIsSent,
		"a_replaced_token_is_sent":               aReplacedTokenIsSent,
		"a_tab_can_be_run_at_once":               aTabRunsAtOnce,
		"the_page_knows_the_schema":              theSchemaIsKnown,
		"a_new_start_wins_over_what_is_stored":   aNewStartWins,
		"what_the_visitor_wrote_survives_reload": editsSurvive,
		"signed_out_no_header_is_sent":           signedOut,
		"no_other_host_can_be_asked":             noOtherHost,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(t)
		})
	}
}

func theTokenIsSent(t *testing.T) {
	s := newSite(t, Page{Token: "secret", Tabs: examples})
	p := webtest.Open(t, s.URL)
	equal(t, "the title", p.Eval(`document.title`), "Kith")
	equal(t, "the logo", p.Eval(`document.querySelector('.graphiql-logo').textContent`), "Kith")
	equal(t, "the tabs", p.Tabs(), "Viewer\nPerson")
	equal(t, "the operation", p.Query(), examples[0].Query)
	contains(t, "the headers editor", p.Headers(), `"Authorization": "Bearer secret"`)

	p.Run()
	contains(t, "the result", p.Result(), "Ada Lovelace")
	equal(t, "the header", s.last(t).who, "Bearer secret")
	shot := filepath.Join(t.ArtifactDir(), "page.png")
	p.Screenshot(shot)
	if info, err := os.Stat(shot); err != nil || info.Size() < 10_000 {
		t.Errorf("the screenshot is no picture: %v, %v", info, err)
	}

	p.Click("#graphiql-session-tab-1")
	p.Run()
	contains(t, "the variables", string(s.last(t).Variables), `"ada"`)
	equal(t, "the header in another tab", s.last(t).who, "Bearer secret")

	p.Click(`button[aria-label="Show History"]`)
	p.Eval(`[...document.querySelectorAll('.graphiql-history-item-label')].at(-1).click(), ""`)
	equal(t, "the operation from the history", p.Query(), examples[0].Query)
	contains(t, "its headers", p.Headers(), "Bearer secret")
	p.Check()
}

func aReplacedTokenIsSent(t *testing.T) {
	s := newSite(t, Page{Token: "secret", Tabs: examples})
	p := webtest.Open(t, s.URL)
	p.SetHeaders(`{"Authorization": "Bearer another"}`)
	p.Run()
	equal(t, "the header", s.last(t).who, "Bearer another")
	p.Check()
}

// GraphiQL knows what the editor holds only some time after it was put there: without what
// the page adds, the tab would be sent with the operation's name of the tab before.
func aTabRunsAtOnce(t *testing.T) {
	s := newSite(t, Page{Tabs: examples})
	p := webtest.Open(t, s.URL)
	p.Run()
	equal(t, "the name of the first tab's operation", s.last(t).OperationName, "Viewer")
	p.Eval(`document.querySelector('#graphiql-session-tab-1').click(), ""`)
	p.Eval(`document.querySelector('.graphiql-execute-button').click(), ""`)
	p.Until("the second tab was sent", func() bool { return s.last(t).Query == examples[1].Query })
	equal(t, "the name of its operation", s.last(t).OperationName, "Person")
	p.Check()
}

func theSchemaIsKnown(t *testing.T) {
	p := webtest.Open(t, newSite(t, Page{Tabs: examples}).URL)
	p.Click(`button[aria-label="Show Documentation Explorer"]`)
	p.Wait(`document.querySelector('.graphiql-plugin').textContent.includes('query: Query')`)
	p.Click(`button[aria-label="Show History"]`)
	p.Wait(`document.querySelector('.graphiql-plugin').textContent.includes('History')`)
	p.Click(`button[aria-label="Show GraphiQL Explorer"]`)
	p.Wait(`document.querySelector('.graphiql-plugin').textContent.includes('viewer')`)

	// Markers come from the GraphQL worker: the policy lets workers run.
	p.SetQuery("{ nosuchfield }")
	p.Wait(`globalThis.__MONACO.editor.getModelMarkers({}).some(m => m.message.includes('nosuchfield'))`)
	p.Check()
}

func aNewStartWins(t *testing.T) {
	s := newSite(t, Page{Token: "old", Tabs: examples})
	p := webtest.Open(t, s.URL)
	p.Run()
	p.Click("#graphiql-session-tab-1")
	p.Wait(`localStorage.getItem('graphiql:tabState').includes('"activeTabIndex":1')`)
	p.Reload()
	equal(t, "the tabs after a reload", p.Tabs(), "Viewer\nPerson")
	equal(t, "the operation after a reload", p.Query(), examples[1].Query)

	// GraphiQL stores a tab's parts one after another; a reload may come in between.
	p.Eval(`localStorage.setItem('graphiql:variables', ''), ""`)
	p.Reload()
	equal(t, "the tabs after a reload in between", p.Tabs(), "Viewer\nPerson")
	equal(t, "the operation after a reload in between", p.Query(), examples[1].Query)

	s.replace(Page{Token: "new", Tabs: examples[1:]})
	p.Reload()
	equal(t, "the tabs after a new start", p.Tabs(), "Person")
	p.Run()
	equal(t, "the header after a new start", s.last(t).who, "Bearer new")
	contains(t, "the variables", string(s.last(t).Variables), `"ada"`)

	p.Click(`button[aria-label="Show History"]`)
	p.Eval(`[...document.querySelectorAll('.graphiql-history-item-label')].at(-1).click(), ""`)
	equal(t, "the oldest operation of the history", p.Query(), examples[0].Query)
	contains(t, "its headers", p.Headers(), "Bearer new")
	p.Check()
}

func editsSurvive(t *testing.T) {
	s := newSite(t, Page{Token: "old", Tabs: examples})
	p := webtest.Open(t, s.URL)
	const edited = "query Viewer { viewer { name } }"
	p.SetQuery(edited)
	p.Wait(`(localStorage.getItem('graphiql:tabState') ?? '').includes('viewer { name }')`)

	s.replace(Page{Token: "new", Tabs: examples})
	p.Reload()
	equal(t, "the operation", p.Query(), edited)
	equal(t, "the tabs", p.Tabs(), "Viewer\nPerson")
	contains(t, "the headers editor", p.Headers(), "Bearer new")
	p.Check()
}

func signedOut(t *testing.T) {
	s := newSite(t, Page{})
	p := webtest.Open(t, s.URL)
	p.SetQuery("{ viewer { name } }")
	p.Run()
	equal(t, "the header", s.last(t).who, "")
	p.Check()
}

func noOtherHost(t *testing.T) {
	p := webtest.Open(t, newSite(t, Page{Tabs: examples}).URL)
	p.Check()
	p.Eval(`fetch('http://127.0.0.2/').catch(() => 0), ""`)
	p.Until("the policy's refusal in the console", func() bool {
		return strings.Contains(strings.Join(p.Errors(), "\n"), "Content Security Policy")
	})
}
