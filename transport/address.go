package transport

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParsePrefixes reads networks such as [Config].TrustedProxies: addresses and CIDRs
// separated by commas, "127.0.0.1, 10.0.0.0/8, fd00::/8". Blank text is none.
func ParsePrefixes(text string) ([]netip.Prefix, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var prefixes []netip.Prefix
	for entry := range strings.SplitSeq(text, ",") {
		p, err := parsePrefix(strings.TrimSpace(entry))
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, p)
	}
	return prefixes, nil
}

// mappedBits is how many bits stand before the IPv4 address in ::ffff:1.2.3.4.
const mappedBits = 96

func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return p, fmt.Errorf("%q is neither an address nor a CIDR such as 10.0.0.0/8", text)
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	// Peers are compared by their unmapped address.
	if p.Addr().Is4In6() {
		if p.Bits() < mappedBits {
			return p, fmt.Errorf("%q is wider than all of IPv4: write 0.0.0.0/0 or ::/0", text)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	return p.Masked(), nil
}

// clientAddress is the address of whoever sent the request: the peer of the connection,
// or, as long as that is a trusted proxy, the one for whom it says to speak. Each proxy
// appends its own peer to X-Forwarded-For, so the header is true from the right up to the
// first address that is not trusted; what stands before that, anyone may have made up.
// The zero Addr: the peer has none, as with a Unix socket.
func clientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	at, ok := parseHost(r.RemoteAddr)
	if !ok {
		return netip.Addr{}
	}
	lines := r.Header.Values("X-Forwarded-For")
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			if !isIn(trusted, at) {
				return at
			}
			var entry string
			rest, entry, more = cutLast(rest, ",")
			// Not even a blank entry is skipped: a proxy that could not tell its peer
			// has put it there, and the one before it is the client's own word.
			next, ok := parseHost(strings.Trim(entry, " \t"))
			if !ok {
				return at
			}
			at = next
		}
	}
	return at
}

// cutLast is [strings.Cut] at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// parseHost reads 1.2.3.4, 1.2.3.4:80, ::1, [::1] and [::1]:80. Zones are dropped: they
// mean something on the machine alone that names them.
func parseHost(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
			text += ":0"
		}
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		a = withPort.Addr()
	}
	return a.Unmap().WithZone(""), true
}

func isIn(prefixes []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}
