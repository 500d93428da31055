package kube

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
)

const (
	// perPage is the number of stacks per list call.
	perPage = 500
	// MaxStacks is the number of stacks that a list returns at most. A larger cluster is listed by namespace.
	MaxStacks = 10_000
)

// Resource is the name of the stacks' resource, as rights name it.
var Resource = schema.GroupResource{Group: v1alpha2.GroupVersion.Group, Resource: "llamastackdistributions"}

// errTooMany is the error for a list of more than MaxStacks stacks.
var errTooMany = fmt.Errorf("there are more than %d stacks; select fewer with --namespace or --selector", MaxStacks)

// Stack returns a stack of the namespace of the command. In a cluster that serves v1alpha1 only, as the previous operator
// installs it, the stack is converted.
func (c *Cluster) Stack(ctx context.Context, name string) (*v1alpha2.LlamaStackDistribution, error) {
	key := client.ObjectKey{Namespace: c.Namespace, Name: name}
	live := newUnstructured(v1alpha2.GroupVersion)
	err := c.Get(ctx, key, live)
	if notServed(err) {
		live = newUnstructured(v1alpha1.GroupVersion)
		err = c.Get(ctx, key, live)
	}
	switch {
	case apierrors.IsNotFound(err) && !notServed(err):
		return nil, fmt.Errorf("there is no stack %q in namespace %q; list all with kubectl get llsd -A", name, c.Namespace)
	case err != nil:
		return nil, Explain(err, "get", Resource, c.Namespace)
	}
	return decode(live)
}

// Stacks returns the stacks that the flags select, sorted as the API server sorts them.
func (c *Cluster) Stacks(ctx context.Context) ([]v1alpha2.LlamaStackDistribution, error) {
	options, err := c.listOptions()
	if err != nil {
		return nil, err
	}
	var found []v1alpha2.LlamaStackDistribution
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind + "List"))
	for {
		err := c.List(ctx, list, append(options, client.Limit(perPage), client.Continue(list.GetContinue()))...)
		if notServed(err) && list.GroupVersionKind().Version == v1alpha2.GroupVersion.Version {
			list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha2.Kind + "List"))
			continue
		}
		if err != nil {
			return nil, Explain(err, "list", Resource, c.scope())
		}
		for i := range list.Items {
			stack, err := decode(&list.Items[i])
			if err != nil {
				return nil, err
			}
			found = append(found, *stack)
		}
		switch {
		case list.GetContinue() == "":
			return found, nil
		case len(found) >= MaxStacks:
			return nil, errTooMany
		}
	}
}

// scope returns the namespace of a list, and "" for all namespaces.
func (c *Cluster) scope() string {
	if c.flags.AllNamespaces {
		return ""
	}
	return c.Namespace
}

func newUnstructured(version schema.GroupVersion) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(version.WithKind(v1alpha2.Kind))
	return object
}

// decode converts an object to a stack of v1alpha2. It ignores fields that this version of the command does not have.
func decode(live *unstructured.Unstructured) (*v1alpha2.LlamaStackDistribution, error) {
	content := live.Object
	if live.GroupVersionKind().Version == v1alpha1.GroupVersion.Version {
		content = convert.ToHub(content)
	}
	data, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("read stack %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	if err := json.Unmarshal(data, stack); err != nil {
		return nil, fmt.Errorf("read stack %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	return stack, nil
}

// notServed reports whether the API server does not serve a kind. Its answer then is a page that is not about an object.
func notServed(err error) bool {
	return meta.IsNoMatchError(err) ||
		apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// Namespaces returns the names of the namespaces of the cluster.
func (c *Cluster) Namespaces(ctx context.Context) ([]string, error) {
	var list corev1.NamespaceList
	if err := c.List(ctx, &list, client.Limit(perPage)); err != nil {
		return nil, Explain(err, "list", schema.GroupResource{Resource: "namespaces"}, "")
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}
