package support

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/eventlist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/installation"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// maxBundled is the maximum number of stacks in an archive.
const maxBundled = 100

// collector reads the material for an archive. It records the objects that the caller cannot read.
type collector struct {
	*kube.Cluster
	core       corev1client.CoreV1Interface
	p          app.Printer
	serverLogs bool
	material   Material
	seen       map[string]bool
	// logged is the total size of the logs in bytes.
	logged int
	// listed contains the objects that were listed, keyed by kind and namespace.
	listed map[string][]unstructured.Unstructured
}

func newCollector(cluster *kube.Cluster, p app.Printer, serverLogs bool) (*collector, error) {
	core, err := cluster.Core()
	if err != nil {
		return nil, err
	}
	return &collector{
		Cluster: cluster, core: core, p: p, serverLogs: serverLogs, seen: map[string]bool{},
		listed: map[string][]unstructured.Unstructured{},
	}, nil
}

// collect reads the material for the archive.
func (c *collector) collect(
	ctx context.Context, selected []string, options *supportOptions, version string,
) (*Material, error) {
	facts, err := installation.ReadFacts(ctx, c.Cluster, options.AllNamespaces, "", options.operatorNamespace, version)
	if err != nil {
		return nil, err
	}
	stacks, err := c.stacks(ctx, selected, facts)
	if err != nil {
		return nil, err
	}
	c.material.Versions = map[string]string{"command": version, "kubernetes": facts.Server.Value}
	c.material.Findings = installation.Examine(facts)
	c.operator(ctx, facts)
	if !c.serverLogs {
		c.left("the server logs: to add them, set --server-logs")
	}
	for i := range stacks {
		if ctx.Err() != nil {
			return nil, errors.New("the command was interrupted; it wrote nothing")
		}
		c.p.Line("%d of %d stacks: %s/%s", i+1, len(stacks), stacks[i].Namespace, stacks[i].Name)
		c.stack(ctx, &stacks[i])
	}
	return &c.material, nil
}

// stacks returns the named or selected stacks, but no more than maxBundled.
func (c *collector) stacks(
	ctx context.Context, selected []string, facts *installation.Facts,
) ([]v1alpha2.LlamaStackDistribution, error) {
	stacks := facts.Stacks.Value
	if len(selected) > 0 {
		stacks = nil
		for _, name := range selected {
			stack, err := c.Stack(ctx, name)
			if err != nil {
				return nil, err
			}
			stacks = append(stacks, *stack)
		}
	} else if facts.Stacks.Problem != "" {
		c.left("the stacks: " + facts.Stacks.Problem)
	}
	if more := len(stacks) - maxBundled; more > 0 {
		c.left(
			fmt.Sprintf("stacks (%d of %d): the archive can contain at most %d stacks; name the stacks, or select them with --selector", more, len(stacks), maxBundled),
		)
		stacks = stacks[:maxBundled]
	}
	return stacks, nil
}

// left records an omission from the archive, unless it is already recorded.
func (c *collector) left(text string) {
	if !slices.Contains(c.material.LeftOut, text) {
		c.material.LeftOut = append(c.material.LeftOut, text)
	}
}

// add adds an object, unless it is already part of the archive.
func (c *collector) add(object *unstructured.Unstructured) {
	key := object.GetKind() + "/" + object.GetNamespace() + "/" + object.GetName()
	if !c.seen[key] {
		c.seen[key] = true
		c.material.Objects = append(c.material.Objects, object.Object)
	}
}

// addTyped adds an object that was read as its Go type.
func (c *collector) addTyped(object client.Object) {
	kinds, _, err := c.Scheme().ObjectKinds(object)
	if err == nil {
		var content map[string]any
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err == nil {
			u := &unstructured.Unstructured{Object: content}
			u.SetGroupVersionKind(kinds[0])
			c.add(u)
			return
		}
	}
	c.left(fmt.Sprintf("%T %s: %v", object, object.GetName(), err))
}

// list returns the objects of a kind that have the given labels. It returns no objects for a kind that the cluster does
// not serve.
func (c *collector) list(
	ctx context.Context, kind schema.GroupVersionKind, namespace string, labels map[string]string,
) []unstructured.Unstructured {
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := c.List(
		ctx, found, client.InNamespace(namespace), client.MatchingLabels(labels), client.Limit(MaxObjects),
	)
	c.leftBy(err, kind, namespace)
	if found.GetContinue() != "" {
		c.left(fmt.Sprintf("%s in namespace %q: the archive contains only the first %d objects", kind.Kind, namespace, MaxObjects))
	}
	return found.Items
}

// once returns the result of list. It calls list only once for each kind and namespace, so callers must use the same
// labels for a kind.
func (c *collector) once(
	ctx context.Context, kind schema.GroupVersionKind, namespace string, labels map[string]string,
) []unstructured.Unstructured {
	key := kind.String() + "/" + namespace
	if _, known := c.listed[key]; !known {
		c.listed[key] = c.list(ctx, kind, namespace, labels)
	}
	return c.listed[key]
}

// belongs reports whether an object belongs to a stack. Objects that the previous operator created have an owner, but
// no labels.
func belongs(object *unstructured.Unstructured, stack string) bool {
	if object.GetLabels()[names.LabelInstance] == stack {
		return true
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == v1alpha2.Kind && owner.Name == stack
	})
}

// leftBy records that the collector could not read a list or an object. It ignores objects that do not exist, and kinds
// that the cluster does not serve.
func (c *collector) leftBy(err error, kind schema.GroupVersionKind, namespace string) {
	if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		c.left(fmt.Sprintf("%s in namespace %q: %v", kind.Kind, namespace, err))
	}
}

// get reads and adds an object if it exists.
func (c *collector) get(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		c.leftBy(err, kind, namespace)
		return
	}
	c.add(object)
}

// stack adds a stack with its objects, the ConfigMaps and Secrets that it uses, its events and, with --server-logs, its
// logs.
func (c *collector) stack(ctx context.Context, stack *v1alpha2.LlamaStackDistribution) {
	c.addTyped(stack)
	c.children(ctx, stack)
	for _, use := range slices.Concat(intent.ConfigMaps(stack), intent.TrustedCA(stack)) {
		if use.Namespace == "" || c.allows(ctx, stack, use) {
			c.get(ctx, configMapKind, cmp.Or(use.Namespace, stack.Namespace), use.Name)
		}
	}
	secrets := c.pods(ctx, stack)
	if name := render.TLSSecret(&stack.Spec); name != "" {
		secrets = append(secrets, name)
	}
	in, _ := intent.FromObject(stack)
	for _, use := range in.Secrets {
		secrets = append(secrets, use.Secret)
	}
	slices.Sort(secrets)
	for _, name := range slices.Compact(secrets) {
		c.get(ctx, secretKind, stack.Namespace, name)
	}
	c.events(ctx, stack.Namespace, func(of *corev1.ObjectReference) bool { return eventlist.Concerns(stack.Name, of) })
}

// allows reports whether a ConfigMap in another namespace allows the stack to use it. The archive must not contain it
// otherwise, because the author of the stack chooses the ConfigMap, but the user of the command can read it.
func (c *collector) allows(ctx context.Context, stack *v1alpha2.LlamaStackDistribution, use intent.ConfigMapUse) bool {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(configMapKind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: use.Namespace, Name: use.Name}, object); err != nil {
		c.leftBy(err, configMapKind, use.Namespace)
		return false
	}
	if facts.MayRead(use, object.Annotations, stack.Namespace) {
		return true
	}
	c.left(fmt.Sprintf("ConfigMap %q in namespace %q: its annotation %s does not contain the namespace %q of the stack",
		use.Name, use.Namespace, names.AnnotationAllowNamespaces, stack.Namespace))
	return false
}

// children adds the objects that the operator created for a stack, except Secrets.
func (c *collector) children(ctx context.Context, stack *v1alpha2.LlamaStackDistribution) {
	labels := map[string]string{names.LabelManagedBy: names.ManagedBy}
	for _, kind := range render.ChildKinds() {
		if kind.Kind == "Secret" {
			continue // the method stack adds the Secrets that the stack uses
		}
		objects := c.once(ctx, kind.GroupVersionKind, stack.Namespace, labels)
		for i := range objects {
			if belongs(&objects[i], stack.Name) {
				c.add(&objects[i])
			}
		}
	}
}

// pods adds the ReplicaSets and pods of a stack and, with --server-logs, the logs. It returns the names of the Secrets
// that the pods and ReplicaSets refer to.
func (c *collector) pods(ctx context.Context, stack *v1alpha2.LlamaStackDistribution) []string {
	var secrets []string
	for _, kind := range []schema.GroupVersionKind{replicaSetKind, podKind} {
		objects := c.list(ctx, kind, stack.Namespace, names.Selector(stack.Name))
		for i := range objects {
			c.add(&objects[i])
			secrets = append(secrets, secretsIn(objects[i].Object)...)
			if kind == podKind && c.serverLogs {
				c.logs(ctx, &objects[i])
			}
		}
	}
	return secrets
}

// These kinds are read as unstructured objects, without their Go types.
var (
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secretKind     = corev1.SchemeGroupVersion.WithKind("Secret")
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
	eventKind      = corev1.SchemeGroupVersion.WithKind("Event")
	replicaSetKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
)

// secretsIn returns the names of the Secrets that a pod or a pod template refers to in environment variables, in
// volumes, and as image pull Secrets.
func secretsIn(value any) []string {
	var found []string
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			switch key {
			case "secretKeyRef", "secretRef", "nodePublishSecretRef", "secret": // secret is a source of a projected volume
				found = append(found, namesOf(item)...)
			case "imagePullSecrets":
				references, _ := item.([]any)
				found = append(found, namesOf(references...)...)
			case "secretName":
				if name, _ := item.(string); name != "" {
					found = append(found, name)
				}
			}
			found = append(found, secretsIn(item)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, secretsIn(item)...)
		}
	}
	return found
}

// namesOf returns the names in references.
func namesOf(references ...any) []string {
	var found []string
	for _, reference := range references {
		fields, _ := reference.(map[string]any)
		if name, _ := fields["name"].(string); name != "" {
			found = append(found, name)
		}
	}
	return found
}

// events adds the events in a namespace that are about selected objects.
func (c *collector) events(ctx context.Context, namespace string, selected func(*corev1.ObjectReference) bool) {
	all := c.once(ctx, eventKind, namespace, nil)
	for i := range all {
		var of corev1.ObjectReference
		of.Kind, _, _ = unstructured.NestedString(all[i].Object, "involvedObject", "kind")
		of.Name, _, _ = unstructured.NestedString(all[i].Object, "involvedObject", "name")
		key := "Event/" + namespace + "/" + all[i].GetName()
		if c.seen[key] || !selected(&of) {
			continue
		}
		c.seen[key] = true
		c.material.Events = append(c.material.Events, all[i].Object)
	}
}
