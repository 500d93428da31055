//go:build node && all

package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
)

// BenchmarkExternalProviders measures the time from the creation of a stack until its server answers, for different
// numbers of external providers. The benchmark reads the end time from the server log, because the interval of the
// readiness probes is ten seconds.
func BenchmarkExternalProviders(b *testing.B) {
	s := newRealScenario(b, "server@"+realRelease)
	provider := s.pushProvider("labeled", external.Echo(),
		image.ExternalProvider{Label: []byte(external.EchoSpec().YAML())})
	s.startUp(stack("my", externalProviders(0, provider))) // the first stack makes the node pull the server's image
	for _, count := range []int{0, 1, 4, 8} {
		manifest := stack("my", externalProviders(count, provider))
		b.Run(fmt.Sprintf("providers=%d", count), func(b *testing.B) {
			var total time.Duration
			for b.Loop() {
				total += s.startUp(manifest)
			}
			b.ReportMetric(total.Seconds()/float64(b.N), "s-to-serve/op")
		})
	}
}

// externalProviders returns the spec of a stack with a number of external providers from one image.
func externalProviders(count int, image string) string {
	spec := fmt.Sprintf("distribution: {name: starter, version: %q}\nworkload: {resources: %s}\n", realRelease, realRequests)
	if count > 0 {
		spec += "externalProviders:\n  inference:\n"
	}
	for i := range count {
		spec += fmt.Sprintf("  - {providerId: provider-%d, image: %q, config: {greeting: Hello}}\n", i, image)
	}
	return spec
}

// startUp applies the manifest of the stack "my", returns the time until its server answered, and deletes the stack.
func (s *scenario) startUp(manifest string) time.Duration {
	s.t.Helper()
	start := time.Now()
	s.apply(manifest)
	s.ready("my")
	var serves time.Time
	for line := range strings.Lines(s.kubectl("logs", "--timestamps", "--container="+names.Container,
		s.onePod("my").Name)) {
		if stamp, _, ok := strings.Cut(line, " "); ok && strings.Contains(line, "Application startup complete") {
			var err error
			if serves, err = time.Parse(time.RFC3339Nano, stamp); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if serves.IsZero() {
		s.t.Fatal("the log of the server does not contain the time of its start")
	}
	s.kubectl("delete", "llsd", "my", "--cascade=foreground", "--wait")
	return serves.Sub(start)
}
