package webtest

import (
	"encoding/json"
	"time"

	"github.com/chromedp/chromedp"
)

// editor is the JavaScript for the text of one of GraphiQL's editors. Monaco draws only the
// lines in sight, so the text is read from its model, not from the document.
func editor(name string) string {
	return `globalThis.__MONACO?.editor.getModels().find(m => m.uri.path.endsWith('` + name + `'))`
}

// quote makes a JavaScript string of text: JSON is one.
func quote(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(literal)
}

var (
	query    = editor("operation.graphql")
	headers  = editor("request-headers.json")
	response = editor("response.json")
	// ready: the editors are there, and the schema has come or failed to.
	ready = `Boolean(` + query + ` && ` + response + ` && document.querySelector('.graphiql-execute-button')
		&& !document.querySelector('.graphiql-spinner'))`
	// coloured: Monaco gives the lines their colours some time after it has shown them.
	coloured = `[...document.querySelectorAll('.graphiql-editors .view-line, .graphiql-response .view-line')]
		.filter(line => line.offsetParent && /\w/.test(line.textContent))
		.every(line => line.querySelector('[class^="mtk"]:not([class="mtk1"]):not([class^="mtk1 "])'))`
)

// Run presses the run button and waits for the answer.
func (p *Page) Run() {
	p.t.Helper()
	p.Click(".graphiql-execute-button")
	p.Wait(`Boolean(` + response + `.getValue() && !document.querySelector('.graphiql-response .graphiql-spinner'))`)
}

// Result is the text of the result pane.
func (p *Page) Result() string {
	p.t.Helper()
	return p.Eval(response + `.getValue()`)
}

// Query is the text of the open tab's operation.
func (p *Page) Query() string {
	p.t.Helper()
	return p.Eval(query + `.getValue()`)
}

// SetQuery replaces the open tab's operation.
func (p *Page) SetQuery(text string) {
	p.t.Helper()
	p.Eval(query + `.setValue(` + quote(text) + `), ""`)
}

// Headers is the text of the headers editor.
func (p *Page) Headers() string {
	p.t.Helper()
	return p.Eval(headers + `.getValue()`)
}

// SetHeaders replaces the headers of the open tab.
func (p *Page) SetHeaders(text string) {
	p.t.Helper()
	p.Eval(headers + `.setValue(` + quote(text) + `), ""`)
}

// Tabs is the titles of the open tabs, one a line.
func (p *Page) Tabs() string {
	p.t.Helper()
	return p.Eval(`[...document.querySelectorAll('.graphiql-tab-button')].map(b => b.textContent).join('\n')`)
}

// Click clicks the first element that the CSS selector finds, as soon as it is there.
func (p *Page) Click(selector string) {
	p.t.Helper()
	do(p, "click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Reload loads the page again, with what it has stored, and waits until it can be used.
func (p *Page) Reload() {
	p.t.Helper()
	do(p, "reload the page", chromedp.Reload())
	p.Wait(ready)
}

// Eval is the value of a JavaScript expression that gives a string.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	return do(p, "evaluate "+expression, chromedp.Evaluate[string](expression))
}

// Wait asks for a JavaScript expression until it is true. (chromedp.Poll can't: it builds a
// function from text in the page, which the page's policy forbids.)
func (p *Page) Wait(expression string) {
	p.t.Helper()
	p.Until(expression, func() bool {
		return do(p, "evaluate "+expression, chromedp.Evaluate[bool](expression))
	})
}

// Until asks met until it is true; what tells in words what is waited for.
func (p *Page) Until(what string, met func() bool) {
	p.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("waited %v in vain for: %s\nthe page's console: %q", patience, what, p.Errors())
		}
	}
}
