//go:build node && all

package node

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

// dirVariable is the environment variable with the state folder of a cluster that test/cluster runs. The node of such a
// cluster reads the registry settings for each pull.
const dirVariable = "CLUSTER_DIR"

// fault writes a response in place of the registry's response, and returns true. If fault returns false, it writes
// nothing, and the registry writes the response.
type fault func(http.ResponseWriter, *http.Request) bool

// faultyRegistry is a registry that requires a password. A test can inject a fault.
type faultyRegistry struct {
	host     string
	password string
	fault    atomic.Pointer[fault]
}

// serveRegistry starts the registry at an address of this machine that the node can reach, and allows the node and the
// operator to use plain HTTP. The operator then checks once a minute whether a tag has moved.
func (s *scenario) serveRegistry() *faultyRegistry {
	s.t.Helper()
	machine, err := netip.ParseAddrPort(registry)
	folder := os.Getenv(dirVariable)
	if err != nil || folder == "" {
		s.t.Fatalf("this scenario needs a node of `make test-node-all`: $%s is %q, and the registry is %q", dirVariable, folder, registry)
	}
	listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", machine.Addr().String()+":0")
	if err != nil {
		s.t.Fatal(err)
	}
	r := &faultyRegistry{host: listener.Addr().String(), password: "node-sesame"}
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)),
		ggcr.WithBlobHandler(ggcr.NewDiskBlobHandler(s.t.TempDir())))
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			_, password, _ := request.BasicAuth()
			switch one := r.fault.Load(); {
			case password != r.password:
				w.Header().Set("WWW-Authenticate", `Basic realm="faulty"`)
				w.WriteHeader(http.StatusUnauthorized)
			case one != nil && (*one)(w, request):
			default:
				inner.ServeHTTP(w, request)
			}
		}),
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(listener) }()
	s.t.Cleanup(func() { _ = server.Close(); <-ended })

	settings := filepath.Join(folder, "node", "certs.d", r.host)
	if err := os.MkdirAll(settings, 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.RemoveAll(settings) })
	hosts := fmt.Sprintf("server = %q\n\n[host.%q]\ncapabilities = [\"pull\", \"resolve\"]\n", "http://"+r.host, "http://"+r.host)
	if err := os.WriteFile(filepath.Join(settings, "hosts.toml"), []byte(hosts), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.registries(fmt.Sprintf("{insecure: [%q, %q], checkInterval: 1m}", registry, r.host))
	s.t.Cleanup(func() { s.registries(fmt.Sprintf("insecure: [%q]", registry)) })
	return r
}

// registries sets the key registries in the operator's ConfigMap.
func (s *scenario) registries(text string) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"data":{"registries":%q}}`, text)
	_, err := kubectl(context.Background(), nil, "patch", "configmap", names.OperatorConfigMap,
		"--namespace="+names.OperatorNamespace,
		"--type=merge", "--patch="+patch)
	if err != nil {
		s.t.Fatal(err)
	}
}

// becomes sets the registry's fault. A nil fault removes the current fault.
func (r *faultyRegistry) becomes(one fault) {
	if one == nil {
		r.fault.Store(nil)
		return
	}
	r.fault.Store(&one)
}

// push pushes the image of the stand-in and, like the author of an image, adds a label with a configuration. It returns
// the digest of the new image.
func (s *taggedImage) push(config string) (digest string) {
	s.t.Helper()
	r := s.registry
	if _, err := image.Publish(s.t.Context(), r.host, operatorTag, "standin@"+defaultRelease); err != nil {
		s.t.Fatal(err)
	}
	command := exec.CommandContext(s.t.Context(), s.tool, "image", "label", r.host+"/standin:"+defaultRelease,
		"--config=-", "--release="+defaultRelease, "--tag=prod", "--insecure", "--push")
	command.Stdin = strings.NewReader(labeledConfig(config))
	said, err := command.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, said)
	}
	s.t.Logf("$ kubectl llamastack %s\n%s", strings.Join(command.Args[1:], " "), said)
	digests := regexp.MustCompile("sha256:[0-9a-f]{64}").FindAllString(string(said), -1)
	if len(digests) == 0 {
		s.t.Fatalf("there is no digest in the output:\n%s", said)
	}
	return digests[len(digests)-1] // the digest of the new image
}

// logIn configures the credentials for pushes by this process and its child processes.
func (s *scenario) logIn(r *faultyRegistry) {
	s.t.Helper()
	folder := s.t.TempDir()
	auth := base64.StdEncoding.EncodeToString([]byte("robot:" + r.password))
	content := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, r.host, auth)
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Setenv("DOCKER_CONFIG", folder); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.Unsetenv("DOCKER_CONFIG") })
}

// taggedImage is a scenario with a stack whose image has the tag prod in a faulty registry.
type taggedImage struct {
	*scenario
	registry *faultyRegistry
	tool     string // the path of the kubectl plugin
	first    string // the digest of the first image
}

func newTaggedImage(t *testing.T) *taggedImage {
	t.Helper()
	s := &taggedImage{scenario: newScenario(t), tool: testutil.BuildCommandLine(t, operatorTag)}
	s.registry = s.serveRegistry()
	s.logIn(s.registry)
	s.first = s.push("first")
	s.kubectl("create", "secret", "docker-registry", "pull", "--docker-server="+s.registry.host,
		"--docker-username=robot", "--docker-password="+s.registry.password)
	return s
}

// declare applies the stack.
func (s *taggedImage) declare(updates, models string) {
	s.t.Helper()
	s.apply(stack("my", fmt.Sprintf("distribution: {image: %q, imageUpdates: %s}\nresources: {models: [%s]}\n",
		s.registry.host+"/standin:prod", updates, models)+
		"workload: {resources: "+small+", overrides: {imagePullSecrets: [{name: pull}]}}"))
}

// stale waits until the stack is degraded because the operator cannot read the image, and returns the message.
func (s *taggedImage) stale() string {
	s.t.Helper()
	degraded := s.condition("my", v1alpha2.ConditionDegraded, v1alpha2.ReasonBaseConfigStale)
	return find(degraded, v1alpha2.ConditionDegraded).Message
}

// labeledConfig returns a configuration for the image of the stand-in. The name distinguishes it from other
// configurations.
func labeledConfig(name string) string {
	return "version: 2\ndistro_name: " + name + "\napis: [inference]\nproviders:\n  inference:\n  - provider_id: vllm\n    provider_type: remote::vllm\n    config: {base_url: http://vllm:8000/v1}\n"
}

// registryFaults lists the faults of a registry, each with a part of the message that the status contains.
var registryFaults = []struct {
	name, says string
	fault      fault
}{
	{"stopped", "the connection closed before the response was complete", func(_ http.ResponseWriter, _ *http.Request) bool {
		panic(http.ErrAbortHandler)
	}},
	{"in trouble", "status 503", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}},
	{"slow", "the host did not respond in time", func(_ http.ResponseWriter, request *http.Request) bool {
		<-request.Context().Done()
		return true
	}},
	{"without the tag", "status 404", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusNotFound)
		return true
	}},
	{"rate limiting", "status 429", func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}},
}

// TestRegistryFaults checks that a fault in the registry of a stack's image does not cause the pod to be replaced, and
// that the status describes the fault. During the fault, a change to the spec is rolled out with the image that the
// pods had before the fault.
func TestRegistryFaults(t *testing.T) {
	s := newTaggedImage(t)
	models := "one"
	s.declare("Stay", models)
	s.ready("my")
	s.runsDigest(s.first)
	for i, each := range registryFaults {
		before := s.onePod("my").UID
		s.registry.becomes(each.fault)
		if said := s.stale(); !strings.Contains(said, each.says) {
			t.Errorf("%s: %q does not contain %q", each.name, said, each.says)
		}
		if after := s.onePod("my").UID; after != before {
			t.Errorf("%s: the pod was replaced", each.name)
		}
		models += fmt.Sprintf(", more-%d", i)
		s.declare("Stay", models)
		s.ready("my")
		s.runsDigest(s.first)
		if after := s.onePod("my").UID; after == before {
			t.Errorf("%s: a change of the spec was not rolled out", each.name)
		}
		s.registry.becomes(nil)
		s.recovers()
	}
	t.Logf("kubectl get events:\n%s", s.kubectl("get", "events", "--field-selector=reason=ImageTagMoved"))
}

// recovers waits until the stack is no longer degraded.
func (s *scenario) recovers() {
	s.t.Helper()
	s.until("my", func(found *v1alpha2.LlamaStackDistribution) error {
		if degraded := find(found, v1alpha2.ConditionDegraded); degraded.Type != "" {
			return fmt.Errorf("still %+v", degraded)
		}
		return nil
	})
}

// runsDigest waits until the stack has only one pod, and this pod is ready and runs the image with this digest.
func (s *scenario) runsDigest(digest string) {
	s.t.Helper()
	s.untilPods("my", func(pods []corev1.Pod) error {
		if len(pods) != 1 || !strings.HasSuffix(pods[0].Spec.Containers[0].Image, "@"+digest) || !isReady(&pods[0]) {
			return fmt.Errorf("there are %d pods, want one ready pod with %s", len(pods), digest)
		}
		return nil
	})
}

// TestWrongContentOfRegistry checks that content never runs if it does not match its digest. If a tag moves, an event
// reports both digests, and the new image is rolled out only to a stack that follows the tag.
func TestWrongContentOfRegistry(t *testing.T) {
	s := newTaggedImage(t)
	r, first := s.registry, s.first
	s.declare("Stay", "one")
	s.ready("my")
	s.runsDigest(first)
	before := s.onePod("my").UID

	second := s.push("second")
	s.movedTo(first, second)
	if after := s.onePod("my").UID; after != before {
		t.Error("the pod was replaced by a moved tag")
	}

	r.becomes(flipManifest(r, second))
	s.declare("Follow", "one")
	said := s.stale()
	for _, want := range []string{
		"refers to " + second + ", but the pods keep " + first + " because the operator cannot use the new image",
		"does not match the requested digest",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the message does not contain %q: %s", want, said)
		}
	}
	if after := s.onePod("my").UID; after != before {
		t.Error("the pod was replaced by an image that cannot be read")
	}
	r.becomes(nil)
	s.runsDigest(second)
	s.recovers()

	// A digest for which the registry has no content does not identify an image, even if the registry returns it for the
	// tag.
	lie := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	before = s.onePod("my").UID
	r.becomes(func(w http.ResponseWriter, request *http.Request) bool {
		if request.Method != http.MethodHead || !strings.HasSuffix(request.URL.Path, "/prod") {
			return false
		}
		w.Header().Set("Docker-Content-Digest", lie)
		w.WriteHeader(http.StatusOK)
		return true
	})
	s.movedTo(second, lie)
	t.Logf("a wrong digest: %s", s.stale())
	if after := s.onePod("my").UID; after != before {
		t.Error("the pod was replaced because of the wrong digest")
	}
	r.becomes(nil)
	s.recovers()
	third := s.push("third")
	s.runsDigest(third)
	t.Logf("kubectl get events:\n%s", s.kubectl("get", "events", "--field-selector=reason=ImageTagMoved"))
}

// movedTo waits for the event that reports that the tag moved from one digest to the other.
func (s *scenario) movedTo(from, to string) {
	s.t.Helper()
	s.eventually(func() error {
		said := s.kubectl("get", "events", "--field-selector=reason=ImageTagMoved", "--output=jsonpath={.items[*].note}{.items[*].message}")
		if !strings.Contains(said, "from "+from+" to "+to) {
			return errors.New("there is no event with the change from " + from + " to " + to + ": " + said)
		}
		return nil
	})
}

// flipManifest returns a fault that flips the last byte of the manifest with this digest.
func flipManifest(r *faultyRegistry, digest string) fault {
	return func(w http.ResponseWriter, request *http.Request) bool {
		if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, digest) {
			return false
		}
		again, err := http.NewRequestWithContext(request.Context(), http.MethodGet,
			"http://"+r.host+request.URL.Path+"?whole", http.NoBody)
		if err != nil || request.URL.RawQuery != "" {
			return false
		}
		again.Header = request.Header
		response, err := http.DefaultClient.Do(again)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if err != nil || len(content) == 0 {
			return false
		}
		content[len(content)-1] ^= 1
		w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
		_, _ = w.Write(content)
		return true
	}
}
