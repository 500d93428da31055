package address

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// ErrLocal is the error for an address that no registry may have.
var ErrLocal = errors.New("the address is local or reserved for a special purpose; ask an administrator to list the registry under registries.insecure")

// ErrNoIdentityService is the error for an address that does not belong to a cloud's identity service.
var ErrNoIdentityService = errors.New("the address does not belong to a service that gives pods their identity")

// special contains the ranges in which no registry is allowed: the ranges of the IANA special-purpose address
// registries (RFC 6890), the multicast ranges, and the deprecated ranges that a machine can still route to itself. The
// ranges for private use are not in the list. An address with the NAT64 prefix is checked as the IPv4 address that it
// embeds (see embedded).
var special = prefixes(
	"0.0.0.0/8",       // "this network"
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, which includes the metadata services of most clouds
	"192.0.0.0/24",    // protocol assignments, which include 192.0.0.192, the metadata service of Oracle Cloud
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // multicast tunnels
	"192.88.99.0/24",  // 6to4 relays
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, which includes the broadcast address

	"::/96",             // unspecified, loopback, and IPv4-compatible addresses
	"::ffff:0:0:0/96",   // IPv4-translated addresses
	"64:ff9b:1::/48",    // network-specific translators, which embed an IPv4 address at any position
	"100::/64",          // discard prefix
	"100:0:0:1::/64",    // dummy prefix
	"2001::/23",         // protocol assignments, which include Teredo
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"5f00::/16",         // segment routing
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local
	"ff00::/8",          // multicast
)

// metadata lists the addresses, outside the ranges above, at which clouds give a machine its credentials.
var metadata = prefixes(
	"100.100.100.200/32",     // Alibaba
	"168.63.129.16/32",       // Azure
	"fd00:42::42/128",        // Scaleway
	"fd00:a9fe:a9fe::1/128",  // Akamai
	"fd00:c1::a9fe:a9fe/128", // Oracle
	"fd00:ec2::/32",          // AWS
	"fd20:ce::254/128",       // Google
)

// wellKnownTranslation is the NAT64 prefix (RFC 6052). An IPv6-only cluster reaches every IPv4 address through it.
var wellKnownTranslation = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(texts ...string) []netip.Prefix {
	result := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		result = append(result, netip.MustParsePrefix(text))
	}
	return result
}

// mayBeAsked reports whether an address is allowed for a registry. Addresses for private use (10.0.0.0/8,
// 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7) are allowed, because registries in company networks and
// clusters have such addresses. The addresses in the variable metadata are not allowed.
func mayBeAsked(address netip.Addr) bool {
	address = embedded(address.WithZone("")) // no prefix contains an address with a zone
	for _, ranges := range [][]netip.Prefix{special, metadata} {
		for _, one := range ranges {
			if one.Contains(address) {
				return false
			}
		}
	}
	return true
}

// embedded returns the IPv4 address that an IPv6 address embeds, or the address itself if it does not embed an IPv4
// address.
func embedded(address netip.Addr) netip.Addr {
	if !wellKnownTranslation.Contains(address) {
		return address.Unmap()
	}
	bytes := address.As16()
	return netip.AddrFrom4([4]byte(bytes[12:]))
}

// CheckDialed checks the address that a name resolved to, right before the connection. A check of the name is not
// enough, because its next lookup can return a different address. With a proxy, the address is the proxy's.
func CheckDialed(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	if !mayBeAsked(target.Addr()) {
		return ErrLocal
	}
	return nil
}

// identityServices lists the addresses at which clouds give a pod its identity. No registry may have one of these
// addresses, because each is in one of the ranges above.
var identityServices = []netip.AddrPort{
	netip.MustParseAddrPort("169.254.169.254:80"), // machine metadata: AWS, Google Cloud, Azure
	netip.MustParseAddrPort("[fd00:ec2::254]:80"), // AWS
	netip.MustParseAddrPort("[fd20:ce::254]:80"),  // Google
	netip.MustParseAddrPort("169.254.170.2:80"),   // AWS, ECS tasks
	netip.MustParseAddrPort("169.254.170.23:80"),  // AWS, EKS Pod Identity
	netip.MustParseAddrPort("[fd00:ec2::23]:80"),
}

// CheckIdentityService is the counterpart of CheckDialed for requests for the operator's own identity: it allows
// exactly the addresses of the identity services. Never use it to dial an address from a stack.
func CheckIdentityService(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("parse address: %w", err)
	}
	if !slices.Contains(identityServices, target) {
		return ErrNoIdentityService
	}
	return nil
}

// CheckWritten checks a host that is written as an IP address, because CheckDialed cannot check it if a proxy makes the
// connection. Some programs read any host that ends in a number as an IPv4 address
// (https://url.spec.whatwg.org/#ends-in-a-number-checker). CheckWritten accepts an IPv4 address only in its usual form.
// It rejects every host with other characters than ASCII, because net/http turns some of them, such as full-width
// digits, into an address. In a request, an international name is in ASCII.
func CheckWritten(target *url.URL) error {
	host := strings.TrimRight(target.Hostname(), ".") // some proxies ignore all dots at the end
	if address, err := netip.ParseAddr(host); err == nil {
		if !mayBeAsked(address) {
			return ErrLocal
		}
		return nil
	}
	if strings.ContainsFunc(host, isNotASCII) || numeric.MatchString(host[strings.LastIndex(host, ".")+1:]) {
		return ErrLocal
	}
	return nil
}

func isNotASCII(r rune) bool { return r > unicode.MaxASCII }

// numeric matches the last label of a host that some programs read as an IPv4 address.
var numeric = regexp.MustCompile(`^([0-9]+|0[xX][0-9a-fA-F]*)$`)
