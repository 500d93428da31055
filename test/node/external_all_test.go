//go:build node && all

package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
)

// oldestExternal is the oldest release with support for external providers.
const oldestExternal = "0.3.5"

// External providers work in the oldest and in the newest of the releases that load a provider by its module.
func TestExternalProvidersOfReleases(t *testing.T) {
	for _, release := range []string{oldestExternal, newestRelease} {
		t.Run(release, func(t *testing.T) {
			newRealScenario(t, "server@"+release).externalProviders(release)
		})
	}
}

// failing returns packages that cannot be used, each with a part of the message in the status. If an import fails, only
// the server log contains the reason.
func failing() map[string]struct {
	files external.Image
	says  string
} {
	type failure = struct {
		files external.Image
		says  string
	}
	// The name differs from the name of the working provider's package, because two packages with the same name would
	// replace each other's files.
	spec := external.Spec{API: "inference", Type: "remote::acme-other", Module: "acme_other"}
	change := func(edit func(*external.Wheel)) external.Image {
		wheel := external.Wheel{Name: "acme-other", Version: "1.0", Files: map[string]string{
			"acme_other/__init__.py": "", "acme_other/provider.py": external.Source("provider.py"),
		}}
		edit(&wheel)
		return external.New(spec, wheel)
	}
	with := func(edit func(*external.Spec)) external.Image {
		other := spec
		edit(&other)
		return external.New(other, external.Words())
	}
	return map[string]failure{
		"no-metadata": {external.Image{"README": "no metadata"}, "Missing /lls-provider/" + external.SpecFile},
		"import": {change(func(w *external.Wheel) {
			w.Files["acme_other/provider.py"] = "raise ValueError('no model')\n\ndef get_provider_spec(): pass\n"
		}), `container "llama-stack" crashed with exit code 1; see kubectl logs`},
		"python":       {change(func(w *external.Wheel) { w.Tag = "cp27-cp27mu-manylinux1_x86_64" }), "Python"},
		"dependency":   {change(func(w *external.Wheel) { w.Requires = []string{"acme-nothing>=2"} }), "acme-nothing>=2"},
		"wrong-api":    {with(func(s *external.Spec) { s.API = "safety" }), "Move it to spec.externalProviders.safety"},
		"writes-out":   {change(func(w *external.Wheel) { w.Raw = []external.Entry{{Name: "../../outside", Content: "x", Mode: 0o644}} }), "outside"},
		"no-wheel":     {change(func(*external.Wheel) {}).With(external.Words().Path(), "no wheel"), "is not a zip archive"},
		"another-type": {with(func(s *external.Spec) { s.Type = "acme" }), "providerType"},
	}
}

const twoProviders = `
distribution: {name: starter, version: %q}
externalProviders:
  inference:
  - {providerId: good, image: %q, config: {greeting: Hello}}
  - {providerId: other, image: %q, config: {greeting: Goodbye}}
resources: {models: [{name: one, provider: good}]}
workload: {resources: ` + realRequests + `}
`

// For each provider that cannot be used, the status contains the reason, and the earlier pod continues to run and to
// answer requests.
func TestExternalProvidersThatFail(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease)
	good := s.pushProvider("good", external.Echo(), image.ExternalProvider{})
	images := map[string]string{"gone": registry + "/external-provider@sha256:" + strings.Repeat("0", 64)}
	says := map[string]string{"gone": "Failed to pull provider image"}
	for name, bad := range failing() {
		images[name], says[name] = s.pushProvider(name, bad.files, image.ExternalProvider{}), bad.says
	}
	s.apply(stack("my", fmt.Sprintf(twoProviders, realRelease, good, good)))
	c := s.client()
	s.ready("my")
	before := s.onePod("my")
	for _, name := range slices.Sorted(maps.Keys(images)) {
		s.apply(stack("my", fmt.Sprintf(twoProviders, realRelease, good, images[name])))
		t.Logf("%s: %s", name, s.says("my", says[name]))
		c.answers(s.service("my"), "good/one", "Hello world, 0 characters of token")
	}
	t.Logf("kubectl get llsd my:\n%s", s.kubectl("get", "llsd", "my", "--output=wide"))
	t.Logf("kubectl get pods:\n%s", s.kubectl("get", "pods"))
	t.Logf("kubectl get events:\n%s", s.kubectl("get", "events", "--field-selector=reason=ExternalProviderFailed"))
	s.remains("my", before)
}

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
