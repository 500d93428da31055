//go:build node

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// realRelease is the release of the real server in most tests.
	realRelease = "0.7.3"
	// newestRelease is the newest release for which there is release data.
	newestRelease = "1.5.0"
	// realPatience is a time limit that is long enough to pull images of hundreds of megabytes, and to start servers that
	// need 15 seconds of CPU time.
	realPatience = 10 * time.Minute
)

// realRequests are the resource requests of a real server. They are lower than the operator's default requests of one
// core and one GiB, because a small node must be able to run an old pod and a new pod at the same time. The request for
// CPUs is lower than the operator's in these tests (see the function adapt).
const realRequests = `{requests: {cpu: 10m, memory: 256Mi}}`

// published contains the images that scenarios with the real server have pushed.
var published = struct {
	sync.Mutex

	images map[string]bool
}{images: map[string]bool{}}

// newRealScenario pushes the images that have not yet been pushed, and returns a scenario with the time limit that a
// real server needs.
func newRealScenario(t testing.TB, images ...string) *scenario {
	t.Helper()
	publishOnce(t, images)
	s := newScenario(t)
	s.patience = realPatience
	return s
}

func publishOnce(t testing.TB, images []string) {
	t.Helper()
	published.Lock()
	defer published.Unlock()
	images = slices.DeleteFunc(images, func(name string) bool { return published.images[name] })
	if err := publish(t.Context(), images...); err != nil {
		t.Fatal(err)
	}
	for _, name := range images {
		published.images[name] = true
	}
}

// readmeSample returns the first stack in the README, with the release realRelease, for which the test has an image.
func readmeSample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testutil.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```yaml\n")
	sample, _, found := strings.Cut(after, "```")
	const name = "{name: starter}"
	if !found || !strings.Contains(sample, name) {
		t.Fatalf("the README's first sample does not contain %q", name)
	}
	return strings.Replace(sample, name, fmt.Sprintf("{name: starter, version: %q}", realRelease), 1)
}

// The test runs the README's sample with the real server. A pod requests the list of providers, the list of models and
// a completion through the Service. The model server requires the token in the Secret.
func TestRealServer(t *testing.T) {
	t.Parallel()
	s := newRealScenario(t, "server@"+realRelease)
	s.models("vllm", "sk-real")
	s.apply(secret("vllm-creds", "token", "sk-real") + "---\n" + readmeSample(t))
	c := s.client()
	s.ready("simple")
	c.serves("simple", s.service("simple"), realRelease)
}

// serves checks a real server of this release: its version, the provider vllm, the model, a completion, and the version
// in the stack's status. It also checks that the server has not been restarted.
func (c clientPod) serves(stack, url, release string) {
	c.t.Helper()
	var said struct {
		Version string `json:"version"`
	}
	c.eventually(func() error { // the old server may still respond for a short time after a rollout
		err := c.try(url+"/v1/version", &said)
		if err == nil && said.Version != release {
			err = fmt.Errorf("the server reports %q, want %q", said.Version, release)
		}
		return err
	})
	c.provider(url, "vllm", map[string]any{"base_url": "http://vllm:8000/v1", "api_token": redacted})
	c.lists(url+"/v1/models", "vllm/llama3.2-8b")
	c.chat(url, "vllm/llama3.2-8b")
	c.serverVersion(stack, release)
	if pod := c.onePod(stack); pod.Status.ContainerStatuses[0].RestartCount > 0 {
		c.t.Errorf("the server was restarted %d times", pod.Status.ContainerStatuses[0].RestartCount)
	}
}

// lists waits until the list at a URL contains an ID.
func (c clientPod) lists(url, id string) {
	c.t.Helper()
	c.eventually(func() error {
		if listed := c.listed(url, "id"); listed[id] == nil {
			return fmt.Errorf("%s does not list %q, only %v", url, id, listed)
		}
		return nil
	})
}
