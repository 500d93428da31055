package admission

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// liveClaim returns the claim of the stack that the function object returns. No claim in the namespace "gone" can be
// read.
func liveClaim(_ context.Context, key client.ObjectKey) (*corev1.PersistentVolumeClaim, error) {
	if key.Namespace == "gone" {
		return nil, errors.New("the API server does not respond")
	}
	if key.Name != "my-stack-pvc" {
		return nil, nil //nolint:nilnil // nil means that the claim does not exist
	}
	claim := &corev1.PersistentVolumeClaim{}
	return claim, yaml.UnmarshalStrict([]byte(`{metadata: {name: my-stack-pvc}, spec: {accessModes: [ReadWriteOnce],
  storageClassName: slow, volumeName: v, resources: {requests: {storage: 20Gi}}},
  status: {capacity: {storage: 20Gi}}}`), claim)
}

// TestVolume checks updates of the volume. The claim counts, not the stored spec, and the messages are those of the
// condition StorageReady. Package volume has tests for all changes.
func TestVolume(t *testing.T) {
	volume := func(storage string) runtime.RawExtension {
		return object(t, `{distribution: {name: starter}, workload: {storage: {`+storage+`}}}`, nil)
	}
	gone := func(storage string) runtime.RawExtension {
		return object(t, `{distribution: {name: starter}, workload: {storage: {`+storage+`}}}`,
			func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = "gone" })
	}
	const shrinks = `spec.workload.storage.size: 5Gi is less than the 20Gi that PersistentVolumeClaim "my-stack-pvc" requests, and a volume cannot shrink`
	asOlder := func(size string) runtime.RawExtension {
		return older(t, `{distribution: {name: starter}, storage: {size: `+size+`}}`, `{}`).Object
	}
	for name, tc := range map[string]handleCase{
		"a smaller size": {request: update(volume("size: 20Gi"), volume("size: 5Gi")), denied: shrinks},
		"a smaller size in v1alpha1": {
			request: through("v1alpha1", update(asOlder("20Gi"), asOlder("5Gi"))),
			denied:  strings.Replace(shrinks, "spec.workload", "spec.server", 1), warned: "~/.llama",
		},
		"a volume for an existing claim": {request: update(object(t, good, nil), volume("size: 5Gi")), denied: shrinks, warned: "every rollout deletes the data"},
		"no volume any longer": {
			request: update(volume("size: 20Gi"), object(t, good, nil)), warned: "which no pod mounts any longer",
		},
		"a problem that is stored": {
			request: update(volume("size: 5Gi"), volume("size: 5Gi, retainOnDelete: true")), warned: shrinks,
		},
		"a claim that cannot be read": {request: update(gone("size: 20Gi"), gone("size: 5Gi")), warned: shrinks},
		"a class, and an unreadable claim": {
			request: update(gone(""), gone("storageClassName: fast")), warned: `might not be "fast"`,
		},
		"a stack that has no claim":         {request: update(renamed(t, volume("size: 20Gi")), renamed(t, volume("size: 5Gi")))},
		"a deleted stack with another size": {request: update(volume("size: 20Gi"), beingDeleted(t, volume("size: 5Gi")))},
	} {
		t.Run(name, func(t *testing.T) { tc.check(t) })
	}
}

// While another request of the namespace reads a claim, the stored spec counts, and the errors are warnings.
func TestVolumeBusy(t *testing.T) {
	validator := newValidator(t, nil)
	if _, err := validator.claims.Take(t.Context(), "team"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	volume := func(size string) runtime.RawExtension {
		return object(t, `{distribution: {name: starter}, workload: {storage: {size: `+size+`}}}`, nil)
	}
	got := validator.Handle(ctx, update(volume("20Gi"), volume("5Gi")))
	if !got.Allowed || !strings.Contains(strings.Join(got.Warnings, " "), "5Gi is less than the 20Gi") {
		t.Errorf("allowed %v, warnings %q", got.Allowed, got.Warnings)
	}
}

// renamed returns a stack with another name.
func renamed(t *testing.T, stack runtime.RawExtension) runtime.RawExtension {
	t.Helper()
	return runtime.RawExtension{Raw: bytes.Replace(stack.Raw, []byte("my-stack"), []byte("other"), 1)}
}

// liveConfigMap returns the ConfigMap "own". There is no other ConfigMap.
func liveConfigMap(_ context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
	if key.Name != "own" {
		return nil, errors.New("there is no such ConfigMap")
	}
	return &corev1.ConfigMap{Data: map[string]string{
		"config.yaml": "version: 2\nproviders: {inference: [{provider_id: vllm, provider_type: remote::vllm, config: {base_url: 'http://vllm:8000', max_tokns: 1, api_token: sk-hidden}}]}\n",
		"broken":      "apis: [",
		"type":        "version: 2\nproviders: {inference: [{provider_id: hidden, provider_type: 'remote::sk-hidden'}]}\n",
	}}, nil
}
