package network

import (
	"net/netip"
	"testing"
)

func TestPlansDoNotOverlap(t *testing.T) {
	var taken []netip.Prefix
	for slot := range Slots {
		p := Plan{Slot: slot}
		for _, prefix := range []netip.Prefix{netip.PrefixFrom(p.Host(), LinkBits).Masked(), p.Services(), p.Pods()} {
			if prefix != prefix.Masked() {
				t.Errorf("slot %d: %s is not a prefix", slot, prefix)
			}
			if !netip.MustParsePrefix(All).Contains(prefix.Addr()) {
				t.Errorf("slot %d: %s is not in %s", slot, prefix, All)
			}
			for _, other := range taken {
				if prefix.Overlaps(other) {
					t.Errorf("slot %d: %s overlaps %s", slot, prefix, other)
				}
			}
			taken = append(taken, prefix)
		}
	}
}

func TestAddressesAreInTheirRanges(t *testing.T) {
	for slot := range Slots {
		p := Plan{Slot: slot}
		if link := netip.PrefixFrom(p.Host(), LinkBits); !link.Contains(p.Node()) || p.Node() == p.Host() {
			t.Errorf("slot %d: %s and %s are not the ends of a link", slot, p.Host(), p.Node())
		}
		for _, service := range []netip.Addr{p.APIService(), p.DNS()} {
			if !p.Services().Contains(service) {
				t.Errorf("slot %d: %s is not in %s", slot, service, p.Services())
			}
		}
		if p.APIService() != p.Services().Addr().Next() { // the address that the API server chooses for its own Service
			t.Errorf("slot %d: %s is not the first Service of %s", slot, p.APIService(), p.Services())
		}
		if name := p.Link(); len(name) > 15 {
			t.Errorf("slot %d: the interface name %q is longer than 15 characters, so the kernel rejects it", slot, name)
		}
	}
}
