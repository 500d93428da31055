package address

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"
)

func TestMayBeAsked(t *testing.T) {
	for _, address := range []string{
		// These are addresses in every range of the IANA registries, except the ranges for private use.
		"0.0.0.0", "0.255.255.255", "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.170.23",
		"192.0.0.0", "192.0.0.192", "192.0.0.255", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1",
		"198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
		"255.255.255.255",
		"::", "::1", "100::1", "100:0:0:1::1", "2001::1", "2001:1ff:ffff::", "2001:2::1", "2001:10::1", "2001:20::1",
		"2001:30::1",
		"2001:db8::1", "2620:4f:8000::1", "3fff::1", "5f00::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "feff::1",
		"ff02::1",
		// These are addresses of cloud metadata services.
		"100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd20:ce::254%eth0",
		"fd00:c1::a9fe:a9fe",
		"fd00:42::42", "fd00:a9fe:a9fe::1",
		// These are IPv4 addresses within IPv6 addresses.
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:100.100.100.200", "::127.0.0.1", "::169.254.169.254",
		"::8.8.8.8",
		"::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::100.100.100.200", "64:ff9b:1::1",
		"64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1::8.8.8.8", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2001:0:7f00:1::1",
	} {
		if mayBeAsked(netip.MustParseAddr(address)) {
			t.Errorf("%s is allowed", address)
		}
	}
	for _, address := range []string{
		"8.8.8.8", "1.0.0.1", "34.228.211.243", "223.255.255.255", "100.63.0.1", "100.128.0.1", "168.63.129.17", "198.20.0.1",
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fc00::1", "fd12:3456:789a::1",
		"2600:1f18::1", "2001:200::1", "2001:4860:4860::8888", "2003::1", "64:ff9b::8.8.8.8", "64:ff9b::10.0.0.1",
		"::ffff:8.8.8.8",
	} {
		if !mayBeAsked(netip.MustParseAddr(address)) {
			t.Errorf("%s is not allowed", address)
		}
	}
}

// TestIdentityServices checks that only requests for the operator's identity reach the identity services, and that
// registry requests do not.
func TestIdentityServices(t *testing.T) {
	for _, service := range []string{
		"169.254.169.254:80", "169.254.170.2:80", "169.254.170.23:80", "[fd00:ec2::254]:80", "[fd00:ec2::23]:80",
		"[fd20:ce::254]:80",
	} {
		if err := CheckIdentityService(t.Context(), "tcp", service, nil); err != nil {
			t.Errorf("%s: %v", service, err)
		}
		if err := CheckDialed(t.Context(), "tcp", service, nil); !errors.Is(err, ErrLocal) {
			t.Errorf("a registry at %s: %v, want %v", service, err, ErrLocal)
		}
		if err := CheckWritten(&url.URL{Scheme: "https", Host: service}); !errors.Is(err, ErrLocal) {
			t.Errorf("a registry written %s: %v, want %v", service, err, ErrLocal)
		}
	}
	for _, other := range []string{
		"169.254.169.254:443", "169.254.169.254:8080", "169.254.169.253:80", "169.254.170.1:80", "169.254.170.24:80",
		"127.0.0.1:80", "10.0.0.1:80",
		"8.8.8.8:80", "168.63.129.16:80", "100.100.100.200:80", "[fd00:ec2::253]:80", "[::1]:80", "[::ffff:10.0.0.1]:80",
		"[fe80::1%eth0]:80",
	} {
		if err := CheckIdentityService(t.Context(), "tcp", other, nil); !errors.Is(err, ErrNoIdentityService) {
			t.Errorf("%s: %v, want %v", other, err, ErrNoIdentityService)
		}
	}
}
