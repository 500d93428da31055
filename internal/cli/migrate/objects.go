package migrate

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// objects records the adoption of each object of a stack, and the next rollout of the Deployment.
func (v *surveyor) objects(ctx context.Context, t *takeover, stack *unstructured.Unstructured, built *plan.Plan) error {
	for _, object := range built.Objects {
		if object.GVK.Kind == "ConfigMap" || object.GVK.Kind == "Secret" {
			continue // the names contain a digest, so the objects never belong to another operator
		}
		live, err := v.object(ctx, stack.GetNamespace(), object)
		if err == nil && live != nil {
			err = t.object(stack, object.GVK.Kind, live, built)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// object reads an object. It returns nil if the object does not exist, or if the caller cannot read it.
func (v *surveyor) object(ctx context.Context, namespace string, object render.Object) (client.Object, error) {
	live, err := v.Cluster.Child(ctx, object.GVK, namespace, object.Name)
	if apierrors.IsForbidden(err) {
		v.Missing("%s objects in namespace %q: this command cannot show whether this operator has adopted them; "+
			"ask an administrator for permission to get them", object.GVK.Kind, namespace)
		return nil, nil
	}
	return live, err
}

const kindDeployment = "Deployment"

// foreign returns the problem with an object that does not belong to the stack, or "".
func foreign(stack *unstructured.Unstructured, live metav1.Object, title string) string {
	owner := metav1.GetControllerOf(live)
	labeled := apply.Owner{Labels: names.ChildSelector(stack.GetName())}.Adopts(live)
	switch {
	case owner != nil && owner.UID != stack.GetUID():
		return fmt.Sprintf("the controller of %[1]s is %[2]s %[3]q; delete %[1]s, or use another name for the stack", title,
			owner.Kind, owner.Name)
	case owner == nil && !labeled:
		return fmt.Sprintf("%[1]s has no controller and does not have the labels of this stack; delete %[1]s, or use "+
			"another name for the stack", title)
	default:
		return ""
	}
}

// object records the adoption of one object.
func (t *takeover) object(stack *unstructured.Unstructured, kind string, live client.Object, built *plan.Plan) error {
	title := kind + "/" + live.GetName()
	if problem := foreign(stack, live, title); problem != "" {
		t.ByHand = append(t.ByHand, problem)
		return nil
	}
	by := apply.Owner{
		Predecessors: names.Predecessors(stack.GetName()),
		Mark:         apply.Mark{Kind: kindDeployment, Annotation: names.AnnotationRendered, Value: rollout.ByPredecessor},
	}
	taken, err := apply.TakenOver(kind, live, by, names.FieldManager)
	switch {
	case err != nil:
		return fmt.Errorf("namespace %q: %w", stack.GetNamespace(), err)
	case taken == nil:
		t.Adopted = append(t.Adopted, title)
	default:
		t.NotAdopted = append(t.NotAdopted, title)
	}
	deployment, is := live.(*appsv1.Deployment)
	if !is || taken == nil || t.NextRollOut != "" {
		return nil // for an adopted Deployment, the status contains the changes
	}
	if err := apply.TakeOver(kind, live, by, names.FieldManager); err != nil {
		return fmt.Errorf("namespace %q: %w", stack.GetNamespace(), err)
	}
	return t.decide(deployment, built)
}

// decide records the changes that the next rollout makes. The operator reports the same changes after it has adopted
// the Deployment.
func (t *takeover) decide(live *appsv1.Deployment, built *plan.Plan) error {
	decision, err := rollout.Decide(live, nil, built.Rendered)
	if err != nil {
		return fmt.Errorf("namespace %q: %w", t.Namespace, err)
	}
	if decision.Outcome == rollout.KeepTemplate {
		t.NextRollOut = decision.Message
	}
	return nil
}
