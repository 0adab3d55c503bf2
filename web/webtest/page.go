// Package webtest drives the GraphiQL page in a headless Chromium, for tests.
package webtest

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds every step. Monaco alone takes seconds where two cores are shared.
const patience = 2 * time.Minute

// Page is an open page. A step that fails, or takes more than two minutes, fails the test.
type Page struct {
	t    testing.TB
	ctx  context.Context
	mu   sync.Mutex
	urls []string
	errs []string
}

// Open loads the page at address, an http address on 127.0.0.1, in a browser of its own that
// reaches no other host, 1280 by 800 pixels large. It waits until the page can be used. The
// browser ends with the test.
func Open(t testing.TB, address string) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), flags(t)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)

	p := &Page{t: t, ctx: ctx}
	// Starts the browser under ctx: under a bounded context it would end with that one.
	if err := chromedp.Listen(ctx, p.record); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatalf("watch the network: %v", err)
	}
	do(p, "set the size", chromedp.EmulateViewport(1280, 800))
	do(p, "load the page", chromedp.Navigate(address))
	p.Wait(ready)
	return p
}

// flags makes a Chromium for root, without a network and without calls of its own. chromedp
// gives it an empty profile and removes that afterwards.
func flags(t testing.TB) []chromedp.ExecAllocatorOption {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("webtest needs Chromium; on Debian: apt-get install chromium (%v)", err)
	}
	return append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
		chromedp.WSURLReadTimeout(patience),
	)
}

// record keeps what the browser reports.
func (p *Page) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") { // asks nobody, and is long
			p.urls = append(p.urls, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.errs = append(p.errs, thrown(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			p.errs = append(p.errs, text(e.Args))
		}
	case *log.EventEntryAdded: // refused by the policy, failed to load
		if e.Entry.Level == log.EntryLevelError {
			p.errs = append(p.errs, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

func thrown(details *runtime.ExceptionDetails) string {
	if details.Exception != nil {
		return details.Text + " " + details.Exception.Description
	}
	return details.Text
}

func text(args []*runtime.RemoteObject) string {
	var all string
	for _, arg := range args {
		all += string(arg.Value) + arg.Description + " "
	}
	return all
}

// Requests lists the addresses that the page asked for, in order, less those of data.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.urls)
}

// Errors lists what the page wrote as errors to the console, what it threw, what failed to
// load and what its Content-Security-Policy refused.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errs)
}

// Check fails the test if the page had an error or asked another host than 127.0.0.1.
func (p *Page) Check() {
	p.t.Helper()
	for _, err := range p.Errors() {
		p.t.Errorf("the page's console: %s", err)
	}
	for _, address := range p.Requests() {
		u, err := url.Parse(address)
		if err != nil {
			p.t.Errorf("the page asked for %q: %v", address, err)
		} else if u.Hostname() != "127.0.0.1" {
			p.t.Errorf("the page asked another host: %s", address)
		}
	}
}

// Screenshot writes the page as it looks to path, a PNG of 1280 by 800, once the texts have
// their colours.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	p.Wait(coloured)
	png := do(p, "take a screenshot", chromedp.CaptureScreenshot())
	if err := os.WriteFile(path, png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// do runs one action, in bounded time.
func do[T any](p *Page, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v\nthe page's console: %q", what, err, p.Errors())
	}
	return value
}
