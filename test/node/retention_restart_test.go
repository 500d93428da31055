//go:build node && all

package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

const lengthAndAdded = "{name: llama3.2-8b, contextLength: 64000}, {name: added-8b, contextLength: 16000}"

// halfway is a paused rollout of a stack with two replicas. In addition to the two old pods, a new pod is ready. The
// new pod has registered a changed model and an additional model.
type halfway struct {
	*scenario
	client   clientPod
	old, new []corev1.Pod
	store    string
}

// rollHalfway rolls out a change to a stack, and pauses the rollout when one new pod is ready.
func rollHalfway(s *scenario, more string) *halfway {
	s.t.Helper()
	s.postgres()
	c := retainingScenario(s)
	s.apply(stack("my", fmt.Sprintf(retained, model("llama3.2-8b", 32000), onPostgres, 2)+more))
	h := &halfway{scenario: s, client: c, old: s.settled("my", 2)}
	h.store = c.store(at(&h.old[0]), "faiss", "kept", "The text of the store.")
	before := map[types.UID]bool{h.old[0].UID: true, h.old[1].UID: true}

	s.apply(stack("my", fmt.Sprintf(retained, lengthAndAdded, onPostgres, 2)+more))
	s.eventually(func() error { return h.look(before) })
	s.kubectl("rollout", "pause", "deployment/"+names.Deployment("my"))
	s.eventually(func() error {
		if err := h.look(before); err != nil {
			return err
		}
		if !isReady(&h.new[0]) {
			return fmt.Errorf("pod %s is not ready", h.new[0].Name)
		}
		return nil
	})
	if len(h.old) != 2 || len(h.new) != 1 {
		s.t.Fatalf("there are %d old pods and %d new pods, want two and one", len(h.old), len(h.new))
	}
	return h
}

// look reads the pods, and separates the old pods from the new pods. It returns an error until a new pod exists.
func (h *halfway) look(before map[types.UID]bool) error {
	pods, err := h.livePods("my")
	if err != nil {
		return err
	}
	h.old, h.new = nil, nil
	for i := range pods {
		if before[pods[i].UID] {
			h.old = append(h.old, pods[i])
		} else {
			h.new = append(h.new, pods[i])
		}
	}
	if len(h.new) == 0 {
		return errors.New("there is no new pod")
	}
	return nil
}

// goOn resumes the rollout, and checks the stack after the rollout and after a restart of each server.
func (h *halfway) goOn(want map[string]int) {
	h.t.Helper()
	h.kubectl("rollout", "resume", "deployment/"+names.Deployment("my"))
	pods := h.settled("my", 2)
	for i := range pods {
		h.client.hasStores(at(&pods[i]), h.store)
		h.client.finds(at(&pods[i]), h.store, "The text of the store.")
		got, err := h.client.lengths(at(&pods[i]))
		h.t.Logf("after the rollout, pod %s lists %v (%v)", pods[i].Name, got, err)
	}
	for i := range pods {
		h.restart(&pods[i])
		h.client.hasModels(at(&pods[i]), want)
		h.client.hasStores(at(&pods[i]), h.store)
	}
}

var newerLengths = map[string]int{"vllm/llama3.2-8b": 64000, "vllm/added-8b": 16000}

// The server in a pod of the older generation restarts after a pod of the newer generation has registered a changed
// model. The image's entrypoint is known, so the program that updates the registry runs again. The server then
// registers its own declaration, and the pod is ready again. The entries that only the newer generation declares are
// not removed.
func TestRetentionRestart(t *testing.T) {
	h := rollHalfway(newRealScenario(t, "server@"+realRelease, "databases"), "")
	old, newest := h.old[0], h.new[0]
	if found := containerNames(&old); !slices.Equal(found, []string{serverContainer}) {
		t.Fatalf("the pod has the containers %q; the image's entrypoint is known, so only the server's container is necessary", found)
	}
	h.client.hasModels(at(&newest), newerLengths)
	h.restart(&old)
	said := h.registryLog(old.Name, serverContainer)
	t.Logf("old pod, started again:\n%s", said)
	if !strings.Contains(said, "to be registered again: model:vllm/embed, model:vllm/llama3.2-8b") {
		t.Errorf("output of the program that updates the registry:\n%s", said)
	}
	h.client.hasStores(at(&old), h.store)
	h.client.finds(at(&old), h.store, "The text of the store.")
	for _, pod := range []*corev1.Pod{&old, &newest} {
		got, err := h.client.lengths(at(pod))
		t.Logf("pod %s lists %v (%v)", pod.Name, got, err)
		if err != nil || got["vllm/added-8b"] != newerLengths["vllm/added-8b"] {
			t.Errorf("pod %s lists %v (%v), want added-8b among them", pod.Name, got, err)
		}
	}
	h.goOn(newerLengths)
}

// This is the same scenario with an unknown entrypoint: the base configuration is from a user's ConfigMap. The init
// container does not run again when only the server's container restarts, so the server rejects the newer entry. The
// server log reports the conflict, and the stack's status contains the name of the pod. The pods of the newer
// generation continue to serve requests, and the problem no longer exists when the rollout is complete.
func TestRetentionRestartConflict(t *testing.T) {
	match, err := release.Lookup(realRelease)
	if err != nil {
		t.Fatal(err)
	}
	config, err := corpus.LightStarter(match.Release)
	if err != nil {
		t.Fatal(err)
	}
	s := newRealScenario(t, "server@"+realRelease, "databases")
	s.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata:\n  config.yaml: |\n    " +
		strings.ReplaceAll(strings.TrimSpace(string(config)), "\n", "\n    ") + "\n")
	h := rollHalfway(s, "baseConfig: {configMapName: base}\n")
	old, newest := h.old[0], h.new[0]
	if found := containerNames(&old); !slices.Equal(found, []string{names.RegistryContainer, serverContainer}) {
		t.Fatalf("the pod has the containers %q; the image's entrypoint is not known, so an init container is necessary", found)
	}
	h.kubectl("exec", old.Name, "-c", serverContainer, "--", "/bin/sh", "-c", "kill 1")
	const conflict = "already exists with conflicting field values"
	h.eventually(func() error {
		said, err := kubectl(t.Context(), nil, "logs", "--namespace="+h.namespace, old.Name, "-c", serverContainer,
			"--previous")
		if err == nil && !strings.Contains(said, conflict) {
			err = fmt.Errorf("the log of the old pod does not contain %q:\n%s", conflict, said)
		}
		return err
	})
	told := h.says("my", old.Name)
	t.Logf("status: %s", told)
	h.client.hasModels(at(&newest), newerLengths)
	h.client.finds(at(&newest), h.store, "The text of the store.")
	h.goOn(newerLengths)
}

// containerNames returns the names of a pod's containers, with the init containers first.
func containerNames(pod *corev1.Pod) (found []string) {
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		found = append(found, container.Name)
	}
	return found
}
