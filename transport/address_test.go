package transport

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"kith/social"
)

func prefixes(t testing.TB, text string) []netip.Prefix {
	t.Helper()
	p, err := ParsePrefixes(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheAddressIsThatOfTheClient(t *testing.T) {
	const proxies = "10.0.0.0/8, 192.168.1.1, fd00::/8, fe80::/10, ::ffff:172.16.0.0/108"
	for name, test := range map[string]struct {
		peer      string
		forwarded []string // lines of the header
		want      string   // "" is none
	}{
		"direct":                        {"1.2.3.4:5678", nil, "1.2.3.4"},
		"direct by IPv6":                {"[2001:db8::1]:5678", nil, "2001:db8::1"},
		"direct, mapped":                {"[::ffff:1.2.3.4]:5678", nil, "1.2.3.4"},
		"a socket":                      {"@", []string{"1.2.3.4"}, ""},
		"no peer":                       {"", []string{"1.2.3.4"}, ""},
		"spoofed":                       {"1.2.3.4:5678", []string{"5.6.7.8"}, "1.2.3.4"},
		"spoofed as a proxy":            {"1.2.3.4:5678", []string{"10.0.0.1"}, "1.2.3.4"},
		"spoofed by IPv6":               {"[2001:db8::1]:5678", []string{"5.6.7.8", "fd00::1"}, "2001:db8::1"},
		"beside a trusted one":          {"192.168.1.2:5678", []string{"5.6.7.8"}, "192.168.1.2"},
		"a proxy":                       {"10.0.0.1:5678", []string{"5.6.7.8"}, "5.6.7.8"},
		"a proxy by its address":        {"192.168.1.1:5678", []string{"5.6.7.8"}, "5.6.7.8"},
		"a proxy by IPv6":               {"[fd00::1]:5678", []string{"2001:db8::1"}, "2001:db8::1"},
		"a proxy, mapped":               {"[::ffff:10.0.0.1]:5678", []string{"::ffff:5.6.7.8"}, "5.6.7.8"},
		"a prefix, mapped":              {"172.16.3.4:5678", []string{"5.6.7.8"}, "5.6.7.8"},
		"beside that prefix":            {"172.32.3.4:5678", []string{"5.6.7.8"}, "172.32.3.4"},
		"a proxy with a zone":           {"[fe80::1%eth0]:5678", []string{"5.6.7.8"}, "5.6.7.8"},
		"a proxy without the header":    {"10.0.0.1:5678", nil, "10.0.0.1"},
		"spoofed before a proxy":        {"10.0.0.1:5678", []string{"9.9.9.9, 10.0.0.7, 5.6.7.8"}, "5.6.7.8"},
		"spoofed in another line":       {"10.0.0.1:5678", []string{"9.9.9.9", "5.6.7.8"}, "5.6.7.8"},
		"two proxies":                   {"10.0.0.1:5678", []string{"9.9.9.9,5.6.7.8,10.0.0.2"}, "5.6.7.8"},
		"three, in several lines":       {"10.0.0.1:5678", []string{"9.9.9.9,5.6.7.8", "fd00::3, 10.0.0.2"}, "5.6.7.8"},
		"three, a line each":            {"10.0.0.1:5678", []string{"9.9.9.9", "5.6.7.8", "fd00::3", "10.0.0.2"}, "5.6.7.8"},
		"proxies alone":                 {"10.0.0.1:5678", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"with a port":                   {"10.0.0.1:5678", []string{"1.2.3.4:5678"}, "1.2.3.4"},
		"IPv6 with a port":              {"10.0.0.1:5678", []string{"[::1]:80"}, "::1"},
		"IPv6 in brackets":              {"10.0.0.1:5678", []string{"[2001:db8::1]"}, "2001:db8::1"},
		"proxies with ports":            {"10.0.0.1:5678", []string{"9.9.9.9, 5.6.7.8:1, 10.0.0.2:80, [fd00::1]:80"}, "5.6.7.8"},
		"a zone":                        {"10.0.0.1:5678", []string{"fe80::1%eth0"}, "fe80::1"},
		"a zone with a port":            {"10.0.0.1:5678", []string{"5.6.7.8, [fe80::1%eth0]:80"}, "5.6.7.8"},
		"spaces and tabs":               {"10.0.0.1:5678", []string{" \t5.6.7.8\t , 10.0.0.2 "}, "5.6.7.8"},
		"garbage":                       {"10.0.0.1:5678", []string{"garbage"}, "10.0.0.1"},
		"garbage before a proxy":        {"10.0.0.1:5678", []string{"5.6.7.8, garbage, 10.0.0.2"}, "10.0.0.2"},
		"garbage in a line":             {"10.0.0.1:5678", []string{"5.6.7.8", "unknown", "10.0.0.2"}, "10.0.0.2"},
		"garbage before the client":     {"10.0.0.1:5678", []string{"garbage, 5.6.7.8"}, "5.6.7.8"},
		"an empty header":               {"10.0.0.1:5678", []string{""}, "10.0.0.1"},
		"an empty line":                 {"10.0.0.1:5678", []string{"5.6.7.8", " "}, "10.0.0.1"},
		"an empty entry":                {"10.0.0.1:5678", []string{"5.6.7.8, , 10.0.0.2"}, "10.0.0.2"},
		"a comma behind":                {"10.0.0.1:5678", []string{"5.6.7.8,"}, "10.0.0.1"},
		"commas":                        {"10.0.0.1:5678", []string{",,,"}, "10.0.0.1"},
		"a port too high":               {"10.0.0.1:5678", []string{"5.6.7.8:99999"}, "10.0.0.1"},
		"a port without an address":     {"10.0.0.1:5678", []string{":80"}, "10.0.0.1"},
		"IPv4 in brackets":              {"10.0.0.1:5678", []string{"[5.6.7.8]:80"}, "10.0.0.1"},
		"half a bracket":                {"10.0.0.1:5678", []string{"[::1"}, "10.0.0.1"},
		"an entry of the new header":    {"10.0.0.1:5678", []string{"for=5.6.7.8"}, "10.0.0.1"},
		"leading zeros":                 {"10.0.0.1:5678", []string{"05.6.7.8"}, "10.0.0.1"},
		"a network":                     {"10.0.0.1:5678", []string{"5.6.7.0/24"}, "10.0.0.1"},
		"a name":                        {"10.0.0.1:5678", []string{"localhost"}, "10.0.0.1"},
		"a line break that got through": {"10.0.0.1:5678", []string{"5.6.7.8\r\n"}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got netip.Addr
			f := &fake{userErr: func(ctx context.Context) error {
				got = social.Address(ctx)
				return nil
			}}
			e := newEdge(f, func(c *Config) { c.TrustedProxies = prefixes(t, proxies) })
			r := postRequest(inJSON(userQuery))
			r.RemoteAddr = test.peer
			r.Header["X-Forwarded-For"] = test.forwarded
			if a := e.do(t, r); a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.raw)
			}
			if want, _ := netip.ParseAddr(test.want); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if got := clientAddress(r, nil); got.IsValid() && !strings.Contains(test.peer, got.String()) {
				t.Errorf("without trust: %s", got)
			}
		})
	}
}

func TestPrefixesAreAddressesOrNetworks(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "[]",
		" \t":                           "[]",
		"10.0.0.0/8":                    "[10.0.0.0/8]",
		"10.1.2.3/8":                    "[10.0.0.0/8]",
		"127.0.0.1, ::1":                "[127.0.0.1/32 ::1/128]",
		" fd00::/8 ,\t0.0.0.0/0, ::/0 ": "[fd00::/8 0.0.0.0/0 ::/0]",
		"::ffff:10.0.0.1":               "[10.0.0.1/32]",
		"::ffff:10.0.0.0/104":           "[10.0.0.0/8]",
		"::ffff:0.0.0.0/95":             "", // more than IPv4
		"::ffff:10.0.0.1/8":             "",
		"10.0.0.1,":                     "",
		",10.0.0.1":                     "",
		"10.0.0.1,,10.0.0.2":            "",
		"10.0.0.1 10.0.0.2":             "",
		"10.0.0.0/33":                   "",
		"10.0.0.0/":                     "",
		"10.0.0/8":                      "",
		"10.0.0.1:80":                   "",
		"[::1]":                         "",
		"fe80::1%eth0":                  "",
		"fe80::%eth0/64":                "",
		"localhost":                     "",
	} {
		got, err := ParsePrefixes(text)
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}

// FuzzClientAddress sends any header from any peer: the address is the peer's own, unless
// that is trusted; then it is one that the header holds, with no proxy skipped that is not
// trusted.
func FuzzClientAddress(f *testing.F) {
	for _, forwarded := range []string{"5.6.7.8", "9.9.9.9, 5.6.7.8:80\n[fd00::1]:80, 10.0.0.2", "[::1]", "fe80::1%eth0", ",\n,", "garbage, 10.1.1.1"} {
		f.Add("10.0.0.1:5678", "10.0.0.0/8, fd00::/8", forwarded)
		f.Add("1.2.3.4:5678", "10.0.0.0/8", forwarded)
		f.Add("[::ffff:10.0.0.1]:80", "::ffff:10.0.0.0/104", forwarded)
	}
	f.Fuzz(func(t *testing.T, remote, proxies, forwarded string) {
		trusted, err := ParsePrefixes(proxies)
		if err != nil && trusted != nil {
			t.Errorf("%q: both %v and %v", proxies, trusted, err)
		}
		lines := strings.Split(forwarded, "\n")
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": lines}}
		got := clientAddress(r, trusted)
		if got.Zone() != "" || got.Is4In6() {
			t.Errorf("%s has a zone or is mapped", got)
		}
		if alone := clientAddress(r, nil); alone != clientAddress(&http.Request{RemoteAddr: remote}, trusted) {
			t.Errorf("%s from %s without trust", alone, remote)
		}
		peer, ok := parseHost(remote)
		if !ok && got.IsValid() || ok && !isIn(trusted, peer) && got != peer {
			t.Fatalf("%s from %s, which is not trusted", got, remote)
		}
		// The same again from the left, over all entries at once.
		want := peer
		entries := strings.Split(strings.Join(lines, ","), ",")
		slices.Reverse(entries)
		for _, entry := range entries {
			next, good := parseHost(strings.Trim(entry, " \t"))
			if !good || !isIn(trusted, want) {
				break
			}
			want = next
		}
		if ok && got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
