package offline

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// insideDomains lists top-level domains that no public name has: those of Kubernetes, those reserved for private use
// and for tests, and those that offline networks commonly use.
var insideDomains = []string{
	"corp", "home", "internal", "intranet", "invalid", "lan", "local", "localhost", "private",
	"svc", "test",
}

// publicDomains lists common top-level domains of public names. isOutside treats a two-label name with any other domain
// as the name of a Service and its namespace. It assumes that no namespace has the name of one of these domains.
var publicDomains = []string{"co", "com", "edu", "gov", "io", "net", "org"}

// hostOf returns the host of an endpoint. The endpoint is a URL, or a host name with or without a port. hostOf returns
// an empty string when there is no host.
func hostOf(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		if text == "" || strings.ContainsAny(text[:1], "/~.") {
			return "" // a file
		}
		text = "//" + text
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(parsed.Hostname(), "."))
}

// isOutside reports whether a host is probably not reachable from an offline cluster, because it is neither a private
// address nor a name of the cluster or of a private network. A two-label name is the name of a Service and its
// namespace, unless its domain is in publicDomains.
func isOutside(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsGlobalUnicast() && !address.IsPrivate() && !carrier.Contains(address.Unmap())
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) == 1, slices.Contains(insideDomains, last), strings.HasSuffix(host, ".home.arpa"):
		return false
	case len(labels) == 2:
		return slices.Contains(publicDomains, last)
	default:
		return true
	}
}

// carrier is the shared address space of RFC 6598, which clusters use for private addresses.
var carrier = netip.MustParsePrefix("100.64.0.0/10")
