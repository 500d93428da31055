package trial

import (
	"errors"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

const (
	kindClaim      = "PersistentVolumeClaim"
	kindDeployment = "Deployment"
	kindPod        = "Pod"
)

// untried are the kinds whose objects contain nothing that the API server could reject because of a spec, except for
// their size, which the plan checks.
var untried = []string{"ConfigMap", "Secret", "ServiceAccount"}

// Rendering is a stack with the objects to try.
type Rendering struct {
	stack   *v1alpha2.LlamaStackDistribution
	objects []*unstructured.Unstructured
}

// New returns the objects of a plan to try. A pod with the template of the Deployment is one of them, because policies
// and quotas for pods do not apply to a Deployment.
func New(stack *v1alpha2.LlamaStackDistribution, rendered []render.Object) (*Rendering, error) {
	found := &Rendering{stack: stack}
	for _, one := range rendered {
		if slices.Contains(untried, one.GVK.Kind) {
			continue
		}
		object, err := render.Unstructured(one)
		if err != nil {
			return nil, err
		}
		object.SetOwnerReferences(nil) // they depend on permissions, and a new stack has no UID
		found.objects = append(found.objects, object)
		replicas, given, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		if one.GVK.Kind == kindDeployment && (replicas > 0 || !given) {
			found.objects = append(found.objects, pod(stack, object))
		}
	}
	return found, nil
}

// Unlike removes the objects that are the same as in an earlier rendering, because a change to the stack does not
// affect the API server's answer to them. If the earlier rendering is nil, it is not known, and all objects stay.
func (r *Rendering) Unlike(earlier *Rendering) {
	r.objects = slices.DeleteFunc(r.objects, func(object *unstructured.Unstructured) bool {
		before := earlier.find(object)
		return before != nil && reflect.DeepEqual(before.Object, object.Object)
	})
}

// find returns the object with the same kind and name, or nil.
func (r *Rendering) find(object *unstructured.Unstructured) *unstructured.Unstructured {
	if r == nil {
		return nil
	}
	for _, one := range r.objects {
		if one.GetKind() == object.GetKind() && one.GetName() == object.GetName() {
			return one
		}
	}
	return nil
}

// explain returns the reasons for which the API server rejects an object as invalid. It returns nil for another error.
func (r *Rendering) explain(err error, object *unstructured.Unstructured) []string {
	explained, ok := errors.AsType[*refusal.Error](refusal.Explain(err, r.stack, object))
	if !ok {
		return nil
	}
	return explained.Texts
}

// replaces reports whether an object is a Deployment whose changes stop the old pods before new ones start.
func replaces(object *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(object.Object, "spec", "strategy", "type")
	return object.GetKind() == kindDeployment && strategy == string(appsv1.RecreateDeploymentStrategyType)
}

// pod returns a pod of a Deployment. It has no ServiceAccount of its own, because the API server rejects a pod whose
// ServiceAccount does not exist yet.
func pod(stack *v1alpha2.LlamaStackDistribution, deployment *unstructured.Unstructured) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(deployment.Object, "spec", "template")
	made := &unstructured.Unstructured{Object: template}
	made.SetAPIVersion("v1")
	made.SetKind(kindPod)
	made.SetNamespace(stack.Namespace)
	made.SetGenerateName(stack.Name + "-")
	if spec, ok := template["spec"].(map[string]any); ok &&
		spec["serviceAccountName"] == names.ServiceAccount(stack.Name) {
		delete(spec, "serviceAccountName")
	}
	return made
}
