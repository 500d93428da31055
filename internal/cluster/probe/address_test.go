package probe_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestRefusedAddress checks that the prober connects to no address that a server cannot have, whatever Locate returns,
// and that it makes no further attempt.
func TestRefusedAddress(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1",
		"255.255.255.255", "10.96.0.1", "::ffff:10.96.0.1",
	} {
		t.Run(address, func(t *testing.T) {
			b := startWith(t, probe.Options{Locate: at(address), Refused: []netip.Addr{netip.MustParseAddr("10.96.0.1")}},
				answer("0.7.1"), false)
			b.checkRefused(t, "no server may have the address")
		})
	}
}

// TestNoAddress checks that the prober makes no further attempt for a server that has no address of its own.
func TestNoAddress(t *testing.T) {
	locate := func(context.Context, probe.Target) (netip.Addr, error) { return netip.Addr{}, probe.ErrHostNetwork }
	startWith(t, probe.Options{Locate: locate}, answer("0.7.1"), false).checkRefused(t, probe.ErrHostNetwork.Error())
}

// TestDefectiveLocate checks that a panic while the prober looks for one server affects only this server.
func TestDefectiveLocate(t *testing.T) {
	locate := func(_ context.Context, target probe.Target) (netip.Addr, error) {
		if target.Stack.Name == "my" {
			panic("a defect")
		}
		return netip.ParseAddr(podAddress)
	}
	b := startWith(t, probe.Options{Locate: locate}, answer("0.7.1"), false)
	b.checkRefused(t, "a defect")
	b.answered(t, probe.Target{Stack: stack("other"), Rollout: "1", Port: 8321})
}

// checkRefused asks for a server, and checks that the prober gives up without a connection.
func (b *bench) checkRefused(t *testing.T, reason string) {
	t.Helper()
	target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
	testutil.Within(t, soon, func() error {
		if !b.Ask(target).Concluded {
			return errors.New("not concluded")
		}
		return nil
	})
	if diff := cmp.Diff(probe.Answer{Concluded: true}, b.Ask(target)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if got := b.quiet(t); got != 0 || len(b.addresses) > 0 {
		t.Errorf("%d requests, connections to %v", got, b.addresses)
	}
	if !strings.Contains(b.logged(), reason) {
		t.Errorf("log %q, want %q", b.logged(), reason)
	}
}
