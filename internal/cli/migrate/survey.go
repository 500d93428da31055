package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/planner"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// stacksPerPage is the maximum number of stacks that one request returns.
const stacksPerPage = 100

// surveyor reads a cluster for an inventory, one object at a time and with the caller's permissions. It changes
// nothing.
type surveyor struct {
	*planner.Reader
	found inventory
}

// survey examines every stack in a namespace. An empty namespace means all namespaces.
func (v *surveyor) survey(ctx context.Context, namespace string) error {
	var failed error
	err := v.Cluster.EachStack(ctx, func(live *unstructured.Unstructured) error {
		failed = v.look(ctx, live)
		return failed
	}, client.InNamespace(namespace), client.Limit(stacksPerPage))
	switch {
	case err == nil, failed != nil:
		return failed
	case errors.Is(err, kube.ErrTooMany):
		v.Missing("the cluster has more than %d stacks: set --namespace to list the stacks in one namespace", kube.MaxStacks)
		return nil
	}
	problem := "list the stacks: " + err.Error()
	if _, denied := errors.AsType[*kube.Denied](err); denied && namespace == "" {
		problem += "; set --namespace to a namespace whose stacks you can list"
	}
	return &app.Rejection{Problems: []string{problem}, Summary: "the objects in the cluster could not be read"}
}

// look examines one stack.
func (v *surveyor) look(ctx context.Context, live *unstructured.Unstructured) error {
	fields := live.DeepCopy()
	fields.SetManagedFields(nil)
	unstructured.RemoveNestedField(fields.Object, "status")
	data, err := json.Marshal(fields.Object)
	if err != nil {
		return fmt.Errorf("read stack %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	meta := metav1.TypeMeta{APIVersion: live.GetAPIVersion(), Kind: live.GetKind()}
	s := dryrun.DecodeStack(document.Document{Data: data, Meta: meta}, live.GetNamespace())
	t := newTakeover(s)
	t.ByHand = append(t.ByHand, dropped(live)...)
	t.conditions(live)
	m, err := v.References(ctx, s.Object)
	if err != nil {
		return err
	}
	var found dryrun.Outcome
	if len(m.Unreadable(s.Object)) == 0 {
		found = m.Plan(s)
		t.judge(found)
		t.release(s, found)
	}
	if found.Plan != nil {
		err = v.objects(ctx, &t, live, found.Plan)
	}
	v.found.Stacks = append(v.found.Stacks, t)
	return err
}

// dropped returns a sentence for each unknown field in the manifest that kubectl applied last.
func dropped(live *unstructured.Unstructured) []string {
	var applied any
	if dryrun.DecodeNumbers([]byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), &applied) != nil {
		return nil
	}
	typ := reflect.TypeFor[v1alpha2.LlamaStackDistribution]()
	if object, _ := applied.(map[string]any); object["apiVersion"] == v1alpha1.GroupVersion.String() {
		typ = reflect.TypeFor[v1alpha1.LlamaStackDistribution]()
	}
	_, problems := typecheck.Check(applied, typ)
	var texts []string
	for _, problem := range problems {
		if problem.Unknown {
			texts = append(texts, dryrun.WithPlace(problem, typ)+"; the most recently applied manifest contains this field, which has no effect; correct or remove it")
		}
	}
	return intent.BoundedTexts(texts)
}

// conditions adds the findings that the operator wrote to the stack's status, because more facts about a running stack
// are available to the operator than to this command.
func (t *takeover) conditions(live *unstructured.Unstructured) {
	t.ServerVersion, _, _ = unstructured.NestedString(live.Object, "status", "version", "llamaStackServerVersion")
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		message, _ := condition["message"].(string)
		if condition["status"] != string(metav1.ConditionFalse) || message == "" {
			continue
		}
		switch {
		case condition["type"] == v1alpha2.ConditionAdopted:
			t.NextRollOut = message
		case condition["reason"] == v1alpha2.ReasonOwnershipConflict && condition["type"] == v1alpha2.ConditionDeploymentUpdated:
			t.ByHand = append(t.ByHand, message)
		}
	}
}
