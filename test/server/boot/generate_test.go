//go:build server

package boot

import (
	"errors"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// resolve returns the same result as distribution.Resolve for a distribution of a release. It must also work for a line
// that is not yet offered, because a line is offered only after its servers start in the tests of this package.
func resolve(t *testing.T, rel *release.Release, name string) distribution.Resolved {
	t.Helper()
	shipped, ok := rel.Distribution(name)
	if !ok {
		t.Fatalf("release %s does not contain the distribution %q", rel.Version, name)
	}
	base := []byte(shipped.YAML)
	return distribution.Resolved{
		Name: name, Version: rel.Version, Image: "registry.example.com/distribution-" + name + ":" + rel.Version,
		Release: rel, Exact: true, DetectedBy: distribution.ByVersion, Base: base, Entrypoint: entrypoint(rel),
	}
}

// entrypoint returns the entrypoint of the release's image, if it is known.
func entrypoint(rel *release.Release) []string {
	if !rel.Runtime.EntrypointKnown {
		return nil
	}
	return []string{rel.Runtime.Entrypoint}
}

// generate runs the same pipeline as the controller and the command line, and returns the pod. The pod's files are
// below the given directory.
func generate(t *testing.T, rel *release.Release, s sample, root string) pod {
	t.Helper()
	return generateOn(t, rel, s, &plan.Base{
		Data:   resolve(t, rel, s.stack.Spec.Distribution.Name).Base,
		Source: v1alpha2.ConfigSourceEmbedded,
	}, root)
}

// generateOn does the same as generate, but with the given base instead of the distribution's base.
func generateOn(t *testing.T, rel *release.Release, s sample, base *plan.Base, root string) pod {
	t.Helper()
	built := planOn(t, rel, s, base, nil)
	for _, warning := range built.Warnings {
		t.Logf("warning: %s", warning)
	}
	s.secrets[names.StorageSecret(s.stack.Name)] = derive(t, built.Derived, s.secrets)
	return newPod(t, built.Objects, s.secrets, root)
}

// planOn returns the plan of a stack with a base. The parameter before is the plan of the running pods, or nil.
func planOn(t *testing.T, rel *release.Release, s sample, base *plan.Base, before *plan.Plan) *plan.Plan {
	t.Helper()
	in, _, errs := validate.Spec(s.stack)
	if len(errs) > 0 {
		t.Fatalf("validate the stack:\n%s", intent.Messages(errs))
	}
	resolved := resolve(t, rel, s.stack.Spec.Distribution.Name)
	input := plan.Input{Object: s.stack, Intent: in, Distribution: resolved, Base: base}
	switch {
	case before != nil:
		input.Before = before.Places
	case s.running != nil:
		input.Before = plan.PlacesOf(*s.running)
	}
	built, err := plan.Build(input)
	if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
		t.Fatalf("plan the stack:\n%s", refused)
	}
	if err != nil {
		t.Fatalf("plan the stack: %v", err)
	}
	return built
}

// derive returns the data of the Secret that contains derived values, as the controller writes it.
func derive(t *testing.T, wanted []secretvalue.Derived, values secrets) map[string]string {
	t.Helper()
	derived := map[string]string{}
	for _, entry := range wanted {
		value, err := secretvalue.Derive(entry.Part, values[entry.Secret][entry.SecretKey])
		if err != nil {
			t.Fatalf("derive %q from Secret %q, key %q: %v", entry.Key, entry.Secret, entry.SecretKey, err)
		}
		derived[entry.Key] = value
	}
	return derived
}
