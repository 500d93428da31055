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
)

// ErrLocal is the refusal of an address.
var ErrLocal = errors.New("the address is a local one, or one for a special purpose; list the registry under registries.insecure to allow it")

// ErrNoIdentityService is the refusal of an address that gives no pod its identity.
var ErrNoIdentityService = errors.New("the address is none of a service that gives pods their identity")

// special are the ranges that no registry is read from: those that the IANA registries
// of special-purpose addresses list (RFC 6890), those of multicast, and the deprecated
// ones that a machine may still route to itself. The addresses for private use are not
// among them. What embeds an IPv4 address by a translator that the
// operator's network may have is looked at as that address, see embedded.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, with the metadata services of most clouds
	"192.0.0.0/24",    // protocol assignments, with 192.0.0.192, the metadata service of Oracle's cloud
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // multicast tunnels
	"192.88.99.0/24",  // relays of 6to4
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, with the broadcast address

	"::/96",             // unspecified, loopback, and IPv4-compatible addresses
	"::ffff:0:0:0/96",   // IPv4-translated addresses
	"64:ff9b:1::/48",    // translators of a network's own, which embed an IPv4 address anywhere
	"100::/64",          // discarded
	"100:0:0:1::/64",    // dummy prefix
	"2001::/23",         // protocol assignments, with Teredo
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"5f00::/16",         // segment routing
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local
	"ff00::/8",          // multicast
)

// metadata are the services of clouds that tell a machine its credentials, where their
// addresses are in none of the ranges above.
var metadata = prefixes(
	"100.100.100.200/32",     // Alibaba
	"168.63.129.16/32",       // Azure
	"fd00:42::42/128",        // Scaleway
	"fd00:a9fe:a9fe::1/128",  // Akamai
	"fd00:c1::a9fe:a9fe/128", // Oracle
	"fd00:ec2::/32",          // AWS
	"fd20:ce::254/128",       // Google
)

// wellKnownTranslation is the prefix of NAT64 (RFC 6052): a cluster with IPv6 only
// reaches every IPv4 address by it.
var wellKnownTranslation = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(texts ...string) []netip.Prefix {
	result := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		result = append(result, netip.MustParsePrefix(text))
	}
	return result
}

// mayBeAsked reports whether a registry may be at an address. Those for private use
// (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7) may be: the
// registries of companies and clusters have them.
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

// embedded is the IPv4 address that is reached by an IPv6 address, which is returned
// when it embeds none.
func embedded(address netip.Addr) netip.Addr {
	if !wellKnownTranslation.Contains(address) {
		return address.Unmap()
	}
	bytes := address.As16()
	return netip.AddrFrom4([4]byte(bytes[12:]))
}

// CheckDialed looks at the address that a name resolved to, right before it is called:
// a look at the name could be outrun by its next answer. Where there is a proxy, it is
// the proxy's address.
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

// identityServices are the addresses at which clouds give a pod its identity. No registry may be there: each is in one of the
// ranges above.
var identityServices = []netip.AddrPort{
	netip.MustParseAddrPort("169.254.169.254:80"), // the metadata of machines: AWS, Google, Azure
	netip.MustParseAddrPort("[fd00:ec2::254]:80"), // AWS
	netip.MustParseAddrPort("[fd20:ce::254]:80"),  // Google
	netip.MustParseAddrPort("169.254.170.2:80"),   // AWS, tasks
	netip.MustParseAddrPort("169.254.170.23:80"),  // AWS, EKS Pod Identity
	netip.MustParseAddrPort("[fd00:ec2::23]:80"),
}

// CheckIdentityService is CheckDialed for who asks for the operator's own identity: it lets exactly the addresses of such
// services pass. Nothing that a tenant writes may be dialled by it.
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

// CheckWritten looks at a host that is written as a number, which is all that can be
// looked at where a proxy calls it. Whatever ends in a number is an IPv4 address to some
// programs (https://url.spec.whatwg.org/#ends-in-a-number-checker), and is one here only
// in its usual form.
func CheckWritten(target *url.URL) error {
	host := strings.TrimSuffix(target.Hostname(), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		if !mayBeAsked(address) {
			return ErrLocal
		}
		return nil
	}
	if numeric.MatchString(host[strings.LastIndex(host, ".")+1:]) {
		return ErrLocal
	}
	return nil
}

// numeric is a label that makes a host an IPv4 address.
var numeric = regexp.MustCompile(`^([0-9]+|0[xX][0-9a-fA-F]*)$`)
