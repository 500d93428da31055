//go:build server

package server

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// generate runs the pipeline that the controller and the command line run, and
// returns the pod it asks for, with its files below root.
func generate(t *testing.T, s sample, root string) pod {
	t.Helper()
	if _, errs := validate.Spec(s.stack); len(errs) > 0 {
		t.Fatalf("validate the stack:\n%s", intent.Messages(errs))
	}
	wanted := s.stack.Spec.Distribution
	resolved, err := distribution.Resolve(wanted.Name, wanted.Image, wanted.Version, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resolved.Release.Version != testedRelease {
		t.Fatalf("the sample runs release %s, installed is %s", resolved.Release.Version, testedRelease)
	}
	built, err := plan.Build(plan.Input{
		Object:       s.stack,
		Distribution: resolved,
		Base:         &plan.Base{Data: resolved.Base, Source: v1alpha2.ConfigSourceEmbedded},
	})
	if err != nil {
		t.Fatalf("plan the stack: %v", err)
	}
	for _, warning := range built.Warnings {
		t.Logf("warning: %s", warning)
	}
	s.secrets[names.StorageSecret(s.stack.Name)] = derive(t, built.Derived, s.secrets)
	return newPod(t, built.Objects, s.secrets, root)
}

// derive fills the Secret of derived values, as the controller would.
func derive(t *testing.T, wanted []stackconfig.DerivedValue, values secrets) map[string]string {
	t.Helper()
	derived := map[string]string{}
	for _, entry := range wanted {
		value, err := stackconfig.Derive(entry.Part, values[entry.Secret][entry.SecretKey])
		if err != nil {
			t.Fatalf("derive %q from Secret %q, key %q: %v", entry.Key, entry.Secret, entry.SecretKey, err)
		}
		derived[entry.Key] = value
	}
	return derived
}
