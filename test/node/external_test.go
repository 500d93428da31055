//go:build node

package node

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
)

// externalStack is a stack with two external providers from one package. The operator reads the label of one image. The
// other image has no label, so its provider is unknown until the pod starts.
const externalStack = `
distribution: {name: starter, version: %q}
externalProviders:
  inference:
  - providerId: labeled
    image: %s
    config: {greeting: Hello}
    secretRefs: {token: {secretKeyRef: {name: echo, key: token}}}
  - providerId: unlabeled
    image: %s
    config: {greeting: Goodbye}
resources:
  models:
  - {name: one, provider: labeled}
  - {name: two, provider: unlabeled}
workload: {resources: ` + realRequests + `}
`

// pushProvider builds the image of an external provider and pushes it.
func (s *scenario) pushProvider(tag string, files external.Image, provider image.ExternalProvider) string {
	s.t.Helper()
	provider.Files = map[string][]byte{}
	for path, content := range files {
		provider.Files[path] = []byte(content)
	}
	built, err := provider.Image(s.t.Context(), s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	name := "external-provider:" + s.namespace + "-" + tag
	if err := image.Push(s.t.Context(), pushRegistry()+"/"+name, built); err != nil {
		s.t.Fatal(err)
	}
	return registry + "/" + name
}

// externalPhase waits until an external provider is in this phase in the status, and returns its status.
func (s *scenario) externalPhase(
	stack, id string, phase v1alpha2.ExternalProviderPhase,
) v1alpha2.ExternalProviderStatus {
	s.t.Helper()
	var found v1alpha2.ExternalProviderStatus
	s.until(stack, func(object *v1alpha2.LlamaStackDistribution) error {
		for _, found = range object.Status.ExternalProviders {
			if found.ProviderID == id && found.Phase == phase {
				return nil
			}
		}
		return fmt.Errorf("no external provider %q in phase %s in %+v, %s", id, phase, object.Status.ExternalProviders, conditions(object))
	})
	return found
}

// External providers are installed from images with and without a label, and answer requests in the real server. If a
// provider cannot be installed, the rollout stops, the status contains the reason, and the earlier pod continues to
// run.
func TestExternalProviders(t *testing.T) {
	t.Parallel()
	s := newRealScenario(t, "server@"+realRelease)
	labeled := s.pushProvider("labeled", external.Echo(), image.ExternalProvider{
		Label: []byte(external.EchoSpec().YAML()), Entrypoint: []string{"/bin/sleep", "infinity"},
	})
	unlabeled := s.pushProvider("unlabeled", external.Echo(), image.ExternalProvider{})
	s.apply(secret("echo", "token", canary) + stack("my", fmt.Sprintf(externalStack, realRelease, labeled, unlabeled)))
	c := s.client()
	s.ready("my")
	url := s.service("my")
	c.answers(url, "labeled/one", fmt.Sprintf("Hello world, %d characters of token", len(canary)))
	c.answers(url, "unlabeled/two", "Goodbye world, 0 characters of token")
	for _, id := range []string{"labeled", "unlabeled"} {
		if got := s.externalPhase("my", id, "Ready"); got.InitContainerName != names.ExternalCopyContainer(id) {
			t.Errorf("provider %q was installed by container %q", id, got.InitContainerName)
		}
	}
	before := s.onePod("my")
	if image := before.Spec.InitContainers[0].Image; !strings.Contains(image, "@sha256:") {
		t.Errorf("the image whose label was read runs as %q, without its digest", image)
	}

	broken := s.pushProvider("broken", external.Image{"README": "no metadata"}, image.ExternalProvider{})
	s.apply(stack("my", fmt.Sprintf(externalStack, realRelease, labeled, broken)))
	failed := s.externalPhase("my", "unlabeled", "Failed")
	if !strings.Contains(failed.Message, external.SpecFile) || !strings.Contains(failed.Message, broken) {
		t.Errorf("the message of the failed provider is %q", failed.Message)
	}
	t.Logf("a provider without metadata: %s", failed.Message)
	c.answers(url, "labeled/one", fmt.Sprintf("Hello world, %d characters of token", len(canary)))
	s.remains("my", before)

	s.apply(stack("my", fmt.Sprintf(externalStack, realRelease, labeled, unlabeled)))
	s.ready("my")
	s.externalPhase("my", "unlabeled", "Ready")
	said, err := kubectl(context.Background(), nil, "get", "llsd,configmaps,pods,events", "--output=yaml",
		"--namespace="+s.namespace)
	if err != nil || strings.Contains(said, canary) {
		t.Errorf("the Secret's value is in an object that every user can read (%v)", err)
	}
}
