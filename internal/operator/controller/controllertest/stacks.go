package controllertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// SecretSpec is the spec of a stack with a credential in the Secret vllm-creds, a configuration and a volume.
const SecretSpec = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama]}
workload: {storage: {size: 1Gi}}
`

// UpdateSpec replaces the spec of a stack.
func (env *Environment) UpdateSpec(t *testing.T, name, spec string) {
	t.Helper()
	replacement := map[string]any{"op": "replace", "path": "/spec", "value": env.NewStack(t, name, spec).Spec}
	patch, err := json.Marshal([]map[string]any{replacement})
	if err != nil {
		t.Fatal(err)
	}
	stack := env.NewStack(t, name, "{}")
	if err := env.Client.Patch(t.Context(), stack, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		t.Fatal(err)
	}
}

// UpdateStack changes the current version of a stack. It retries after a conflict.
func (env *Environment) UpdateStack(t *testing.T, name string, change func(*v1alpha2.LlamaStackDistribution)) {
	t.Helper()
	WaitUntil(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		env.Get(t, name, stack)
		change(stack)
		return env.Client.Update(t.Context(), stack)
	})
}

// WaitForRouteURL waits until the status of a stack has this external URL.
func (env *Environment) WaitForRouteURL(t *testing.T, name, want string) {
	t.Helper()
	WaitUntil(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		if err := env.Client.Get(t.Context(), env.Key(name), stack); err != nil {
			return err
		}
		if stack.Status.RouteURL != want {
			return fmt.Errorf("routeURL %q, want %q", stack.Status.RouteURL, want)
		}
		return nil
	})
}

// WaitForExternalProviders waits until the status has these external providers, each in the form "ID phase: message".
// It returns the stack.
func (env *Environment) WaitForExternalProviders(
	t *testing.T, stack string, want ...string,
) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	WaitUntil(t, func() error {
		env.Get(t, stack, object)
		var got []string
		for _, one := range object.Status.ExternalProviders {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", one.ProviderID, one.Phase, one.Message), ": "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("external providers (-want +got):\n" + diff)
		}
		return nil
	})
	return object
}

// NewStack returns a stack in the test's namespace. It decodes the spec strictly.
func (env *Environment) NewStack(t *testing.T, name, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	object.Name, object.Namespace = name, env.Namespace
	return object
}

// WaitForImage waits until the Deployment of a stack has the image, and the status has the image and its source.
func (env *Environment) WaitForImage(t *testing.T, stack, image string, from v1alpha2.ImageSource) {
	t.Helper()
	WaitUntil(t, func() error {
		deployment, object := &appsv1.Deployment{}, &v1alpha2.LlamaStackDistribution{}
		if err := env.Client.Get(t.Context(), env.Key(stack), deployment); err != nil {
			return err
		}
		if err := env.Client.Get(t.Context(), env.Key(stack), object); err != nil {
			return err
		}
		got, status := deployment.Spec.Template.Spec.Containers[0].Image, object.Status.ResolvedDistribution
		if got != image || status == nil || status.Image != image || status.ImageFrom != from {
			return fmt.Errorf("image %q, status %+v; want %q from %s", got, status, image, from)
		}
		return nil
	})
}

// VolumeSpec is the spec of a stack that stores its data in files on a volume. With this spec, the previous pods stop
// before new ones start.
const VolumeSpec = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`

// ChangedVolumeSpec is VolumeSpec with a different configuration.
const ChangedVolumeSpec = `{distribution: {name: starter}, resources: {models: [llama]}, workload: {storage: {size: 1Gi}}}`

// StartWithReadyStack starts a Reconciler and creates the stack "my" with ready pods. The version of the Reconciler is
// the name of the namespace.
func (env *Environment) StartWithReadyStack(t *testing.T, spec string) *Reconciler {
	t.Helper()
	r := env.StartReconciler(t, env.Namespace)
	env.CreateReadyStack(t, spec)
	return r
}

// CreateReadyStack creates the stack "my", marks its Deployment ready, and waits until the stack is ready.
func (env *Environment) CreateReadyStack(t *testing.T, spec string) {
	t.Helper()
	env.Create(t, env.NewStack(t, "my", spec))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.MarkDeploymentReady(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
}

// GetStack reads the stack "my".
func (env *Environment) GetStack(t *testing.T) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, "my", stack)
	return stack
}

// GetDeployment reads the Deployment of the stack "my".
func (env *Environment) GetDeployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	env.Get(t, "my", deployment)
	return deployment
}

// PatchStack changes a stack with a merge patch, which causes no conflicts.
func (env *Environment) PatchStack(t *testing.T, stack string, change func(*v1alpha2.LlamaStackDistribution)) {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, stack, object)
	patch := client.MergeFrom(object.DeepCopy())
	change(object)
	if err := env.Client.Patch(t.Context(), object, patch); err != nil {
		t.Fatal(err)
	}
}
