package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/salvage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

const (
	// perPage is the maximum number of objects that one request returns.
	perPage = 500
	// stacksPerPage is the same for stacks, which can have 250 KB each, and need ten times as much memory here.
	stacksPerPage = 50
	// MaxStacks is the maximum number of stacks in a list. In a larger cluster, the user must select fewer stacks, for
	// example those in one namespace.
	MaxStacks = 10_000
)

// ErrTooMany is the error for a list of more than MaxStacks stacks.
var ErrTooMany = fmt.Errorf("there are more than %d stacks; select fewer with --namespace or --selector", MaxStacks)

// Stack returns a stack in the command's namespace. In a cluster with the previous operator, the API server serves only
// v1alpha1. Stack then converts the object to v1alpha2.
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
		return nil, c.notFound(ctx, name)
	case err != nil:
		return nil, err
	}
	return decode(live)
}

// NotFound is the error for a stack that does not exist.
type NotFound struct {
	// Namespace and Name identify the stack.
	Namespace, Name string
	// Elsewhere lists the namespaces that contain a stack with the same name.
	Elsewhere []string
}

// Error returns a message that names the namespaces that contain a stack with that name, or the command that lists all
// stacks.
func (n *NotFound) Error() string {
	remedy := "to list all stacks, run kubectl get llsd -A"
	if len(n.Elsewhere) > 0 {
		remedy = "use -n " + strings.Join(n.Elsewhere, " or -n ")
	}
	return fmt.Sprintf("there is no stack %q in namespace %q; %s", n.Name, n.Namespace, remedy)
}

// notFound returns the error for a stack that does not exist. If the caller can list all stacks, the error names the
// namespaces that contain a stack with the same name.
func (c *Cluster) notFound(ctx context.Context, name string) error {
	elsewhere, err := c.list(ctx, outline, client.MatchingFields{metadataName: name})
	if err != nil {
		elsewhere = nil // for example, the caller cannot list the stacks in all namespaces
	}
	found := &NotFound{Namespace: c.Namespace, Name: name}
	for i := range elsewhere {
		found.Elsewhere = append(found.Elsewhere, elsewhere[i].Namespace)
	}
	return found
}

// metadataName is the field for an object's name in field selectors.
const metadataName = "metadata.name"

// Named returns the stacks with the given name in the namespaces that the flags select.
func (c *Cluster) Named(ctx context.Context, name string) ([]v1alpha2.LlamaStackDistribution, error) {
	options, err := c.listOptions()
	if err != nil {
		return nil, err
	}
	return c.list(ctx, whole, append(options, client.MatchingFields{metadataName: name})...)
}

// Everywhere returns the stacks in all namespaces, as Stacks does. If the caller cannot list them, it returns the
// stacks in the command's namespace, and false.
func (c *Cluster) Everywhere(ctx context.Context) (found []v1alpha2.LlamaStackDistribution, all bool, err error) {
	found, err = c.list(ctx, outline)
	if _, denied := errors.AsType[*Denied](err); !denied {
		return found, true, err
	}
	found, err = c.list(ctx, outline, client.InNamespace(c.Namespace))
	return found, false, err
}

// Selection returns the flags that select the cluster, for commands in messages. The result begins with a space unless
// it is empty.
func (c *Cluster) Selection() string { return c.flags.selection() }

// Stacks returns the stacks that the flags select, in the order in which the API server lists them. It keeps only an
// outline of each spec, because the specs of all tenants can have hundreds of megabytes.
func (c *Cluster) Stacks(ctx context.Context) ([]v1alpha2.LlamaStackDistribution, error) {
	return c.selected(ctx, outline)
}

// WholeStacks returns the stacks that the flags select, with their specs.
func (c *Cluster) WholeStacks(ctx context.Context) ([]v1alpha2.LlamaStackDistribution, error) {
	return c.selected(ctx, whole)
}

func (c *Cluster) selected(ctx context.Context, keep shorten) ([]v1alpha2.LlamaStackDistribution, error) {
	options, err := c.listOptions()
	if err != nil {
		return nil, err
	}
	return c.list(ctx, keep, options...)
}

// shorten drops parts of a stack that the caller of a list does not need.
type shorten func(*v1alpha2.LlamaStackDistribution) error

func whole(*v1alpha2.LlamaStackDistribution) error { return nil }

func outline(stack *v1alpha2.LlamaStackDistribution) (err error) {
	stack.ManagedFields = nil
	delete(stack.Annotations, corev1.LastAppliedConfigAnnotation)
	stack.Spec, err = stub.Outline(&stack.Spec)
	return err
}

// list reads the stacks that the options select, one page at a time, and returns all of them.
func (c *Cluster) list(
	ctx context.Context, keep shorten, options ...client.ListOption,
) ([]v1alpha2.LlamaStackDistribution, error) {
	var found []v1alpha2.LlamaStackDistribution
	err := c.EachStack(ctx, func(live *unstructured.Unstructured) error {
		stack, err := decode(live)
		if err != nil {
			return err
		}
		err = keep(stack)
		found = append(found, *stack)
		return err
	}, options...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// EachStack reads the stacks that the options select, one page at a time, and calls `take` for each of them. In a
// cluster with the previous operator, they are in v1alpha1. It returns ErrTooMany after MaxStacks of them.
func (c *Cluster) EachStack(
	ctx context.Context, take func(*unstructured.Unstructured) error, options ...client.ListOption,
) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind + "List"))
	taken := 0
	page := func() error {
		for i := range list.Items {
			if err := take(&list.Items[i]); err != nil {
				return err
			}
		}
		if taken += len(list.Items); taken >= MaxStacks && list.GetContinue() != "" {
			return ErrTooMany
		}
		return nil
	}
	options = append(slices.Clip(options), client.Limit(stacksPerPage))
	err := c.Pages(ctx, list, page, options...)
	if notServed(err) && len(list.Items) == 0 {
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha2.Kind + "List"))
		err = c.Pages(ctx, list, page, options...)
	}
	return err
}

// Pages reads a list one page at a time, and calls `take` after each page.
func (c *Cluster) Pages(
	ctx context.Context, list client.ObjectList, take func() error, options ...client.ListOption,
) error {
	selected := (&client.ListOptions{Limit: perPage}).ApplyOptions(options)
	for {
		if err := c.List(ctx, list, selected); err != nil {
			return err
		}
		if err := take(); err != nil {
			return err
		}
		if selected.Continue = list.GetContinue(); selected.Continue == "" {
			return nil
		}
	}
}

func newUnstructured(version schema.GroupVersion) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(version.WithKind(v1alpha2.Kind))
	return object
}

// decode converts an object to a v1alpha2 stack. It ignores unknown fields.
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
	data, _ = salvage.Object(data)
	if err := json.Unmarshal(data, stack); err != nil {
		return nil, fmt.Errorf("read stack %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	return stack, nil
}

// notServed reports whether an error means that the API server does not serve a kind. In that case, the response is not
// a Status, unlike the response about a missing object.
func notServed(err error) bool {
	return meta.IsNoMatchError(err) ||
		apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// Namespaces returns the names of the cluster's namespaces, at most perPage of them.
func (c *Cluster) Namespaces(ctx context.Context) ([]string, error) {
	var list corev1.NamespaceList
	if err := c.List(ctx, &list, client.Limit(perPage)); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}
