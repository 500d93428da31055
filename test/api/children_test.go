package api

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/mutation"
)

var (
	children = flag.Int("children", 150, "number of random changes to the parts of a stack that become parts of its objects")
	seed     = flag.Uint64("seed", 1, "seed of the random changes")
)

// TestChildren changes a valid spec at random, and compares two answers: whether validate.Spec accepts the stack, and
// whether the API server accepts the objects that the operator makes of it. It omits stacks that the API server rejects
// itself.
func TestChildren(t *testing.T) {
	stacks, err := mutation.Stacks()
	testutil.Must(t, err)
	whole := stacks["pod"]["spec"].(map[string]any)
	admin := newClient(t)
	if known, answer := answers(t, admin, whole); known != nil || answer != nil {
		t.Fatalf("the unchanged stack: validate.Spec: %v; API server: %v", known, answer)
	}
	random, refused, accepted := rand.New(rand.NewPCG(*seed, 0)), 0, 0
	for range *children {
		spec := runtime.DeepCopyJSON(whole)
		m := mutation.Mutation{Rand: random}
		m.Change(spec, "workload", "networking")
		known, answer := answers(t, admin, spec)
		switch {
		case errors.Is(answer, errNotStored):
		case known == nil && answer != nil:
			t.Errorf("%s: validate.Spec accepts the stack, and the API server rejects an object: %v", m.Done, answer)
		case known != nil && strings.HasPrefix(known.Error(), "spec.networking.expose"): // only the operator decodes it
		case known != nil && answer == nil && strings.Contains(known.Error(), "is not valid: a lowercase RFC 1123"):
			// The API server accepts a pod with a volume from a ConfigMap or a Secret whose name cannot exist.
		case known != nil && answer == nil:
			t.Errorf("%s: the API server accepts all objects, and validate.Spec rejects the stack: %v", m.Done, known)
		case answer != nil:
			refused++
		default:
			accepted++
		}
	}
	t.Logf("both accept %d and both reject %d of %d changes", accepted, refused, *children)
	if refused < *children/30 || accepted < *children/30 {
		t.Error("the changes do not have both results often enough")
	}
}

// errNotStored means that the API server rejects the stack itself.
var errNotStored = errors.New("the API server rejects the stack")

// answers returns the answer of validate.Spec and that of the API server.
func answers(t *testing.T, admin client.Client, spec map[string]any) (known, answer error) {
	t.Helper()
	raw := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha2.GroupVersion.String(), "kind": v1alpha2.Kind,
		"metadata": map[string]any{"name": "children", "namespace": metav1.NamespaceDefault}, "spec": spec,
	}}
	strict := client.FieldValidation(metav1.FieldValidationStrict)
	if admin.Create(t.Context(), raw.DeepCopy(), client.DryRunAll, strict) != nil {
		return nil, errNotStored
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	data, err := json.Marshal(raw.Object)
	testutil.Must(t, err)
	if err := json.Unmarshal(data, stack); err != nil {
		return nil, errNotStored
	}
	stack.UID = "u"
	in, _, errs := validate.Spec(stack)
	resolved, err := distribution.Resolve("starter", "", "1.5", nil)
	testutil.Must(t, err)
	built, err := plan.Build(plan.Input{
		Object: stack, Intent: in, Distribution: resolved, Cluster: render.Cluster{},
		Base: &plan.Base{Data: resolved.Base, Source: v1alpha2.ConfigSourceEmbedded},
	})
	if err != nil {
		return errs.ToAggregate(), errNotStored // package plan reports it in validate, too
	}
	for _, object := range built.Objects {
		child, err := render.Unstructured(object)
		testutil.Must(t, err)
		child.SetOwnerReferences(nil)
		err = admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(child), client.DryRunAll,
			client.FieldOwner(names.FieldManager), client.ForceOwnership)
		repeated := err != nil && strings.Contains(err.Error(), "duplicate entries for key") // an internal error
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || repeated {
			return errs.ToAggregate(), fmt.Errorf("%s: %w", object.GVK.Kind, err)
		}
	}
	return errs.ToAggregate(), nil
}
