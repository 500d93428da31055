package migrate

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
		if err != nil || live == nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := t.object(stack, live, built); err != nil {
			return err
		}
	}
	return nil
}

// object reads a whole Deployment, or the metadata of any other object. It returns nil if the object does not exist, or
// if the caller cannot read it.
func (v *surveyor) object(
	ctx context.Context, namespace string, object render.Object,
) (*unstructured.Unstructured, error) {
	var into client.Object = &metav1.PartialObjectMetadata{}
	if object.GVK.Kind == kindDeployment {
		into = &unstructured.Unstructured{}
	}
	into.GetObjectKind().SetGroupVersionKind(object.GVK)
	err := v.Cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: object.Name}, into)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		v.Missing("%s objects in namespace %q: this command cannot show whether this operator has adopted them; "+
			"ask an administrator for permission to get them", object.GVK.Kind, namespace)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %q in namespace %q: %w", object.GVK.Kind, object.Name, namespace, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
	if err != nil {
		return nil, fmt.Errorf("read %s %q in namespace %q: %w", object.GVK.Kind, object.Name, namespace, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

const kindDeployment = "Deployment"

// foreign returns the problem with an object that does not belong to the stack, or "".
func foreign(stack, live *unstructured.Unstructured, title string) string {
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
func (t *takeover) object(stack, live *unstructured.Unstructured, built *plan.Plan) error {
	title := live.GetKind() + "/" + live.GetName()
	if problem := foreign(stack, live, title); problem != "" {
		t.ByHand = append(t.ByHand, problem)
		return nil
	}
	by := apply.Owner{
		Predecessors: predecessors(stack.GetName()),
		Mark:         apply.Mark{Kind: kindDeployment, Annotation: names.AnnotationRendered, Value: rollout.ByPredecessor},
	}
	taken, err := apply.TakenOver(live.GetKind(), live, by, names.FieldManager)
	switch {
	case err != nil:
		return fmt.Errorf("namespace %q: %w", stack.GetNamespace(), err)
	case taken == nil:
		t.Adopted = append(t.Adopted, title)
	default:
		t.NotAdopted = append(t.NotAdopted, title)
	}
	if live.GetKind() != kindDeployment || taken == nil || t.NextRollOut != "" {
		return nil // for an adopted Deployment, the status contains the changes
	}
	if err := apply.TakeOver(live.GetKind(), live, by, names.FieldManager); err != nil {
		return fmt.Errorf("namespace %q: %w", stack.GetNamespace(), err)
	}
	return t.decide(live, built)
}

// predecessors returns the field managers of the previous operator.
func predecessors(stack string) []apply.Manager {
	found := []apply.Manager{{Name: stack, Operation: metav1.ManagedFieldsOperationApply}}
	for _, manager := range names.PredecessorManagers() {
		found = append(found, apply.Manager{Name: manager, Operation: metav1.ManagedFieldsOperationUpdate})
	}
	return found
}

// decide records the changes that the next rollout makes. The operator reports the same changes after it has adopted
// the Deployment.
func (t *takeover) decide(live *unstructured.Unstructured, built *plan.Plan) error {
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, deployment); err != nil {
		return fmt.Errorf("read Deployment %q in namespace %q: %w", t.Name, t.Namespace, err)
	}
	decision, err := rollout.Decide(deployment, nil, built.Rendered)
	if err != nil {
		return fmt.Errorf("namespace %q: %w", t.Namespace, err)
	}
	if decision.Outcome == rollout.KeepTemplate {
		t.NextRollOut = decision.Message
	}
	return nil
}
