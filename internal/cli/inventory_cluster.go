package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/typecheck"
)

const (
	// stacksPerPage is the number of stacks per list call.
	stacksPerPage = 100
	// maxStacks bounds the number of stacks. In a larger cluster, the user must list the stacks by namespace.
	maxStacks = 10_000
)

// surveyor reads a cluster for an inventory. It only reads, one object after the other, with the rights of the caller.
type surveyor struct {
	client client.Client
	config operatorconfig.Config
	found  inventory
}

// survey examines every stack of a namespace. An empty namespace means all namespaces.
func (v *surveyor) survey(ctx context.Context, namespace string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind + "List"))
	for {
		err := v.client.List(ctx, list, client.InNamespace(namespace), client.Limit(stacksPerPage),
			client.Continue(list.GetContinue()))
		if notServed(err) && list.GroupVersionKind().Version == v1alpha2.GroupVersion.Version && len(v.found.Stacks) == 0 {
			list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha2.Kind +
				"List")) // the version of the predecessor operator
			continue
		}
		if err != nil {
			return listProblem(err, namespace)
		}
		for i := range list.Items {
			if err := v.look(ctx, &list.Items[i]); err != nil {
				return err
			}
		}
		switch {
		case list.GetContinue() == "":
			return nil
		case len(v.found.Stacks) >= maxStacks:
			v.unseen(fmt.Sprintf("the cluster has more than %d stacks: use --namespace to list them by namespace", maxStacks))
			return nil
		}
	}
}

func notServed(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// listProblem returns the error for stacks that cannot be listed, with a remedy.
func listProblem(err error, namespace string) error {
	problem := "list the stacks: " + err.Error()
	if apierrors.IsForbidden(err) && namespace == "" {
		problem += "; set --namespace to a namespace that you may read"
	}
	return &rejection{problems: []string{problem}, summary: "the cluster could not be read"}
}

// unseen records once what is not known.
func (v *surveyor) unseen(text string) {
	if !slices.Contains(v.found.Unseen, text) {
		v.found.Unseen = append(v.found.Unseen, text)
	}
}

// look examines one stack.
func (v *surveyor) look(ctx context.Context, live *unstructured.Unstructured) error {
	data, err := json.Marshal(withoutLiveFields(live))
	if err != nil {
		return fmt.Errorf("read stack %s/%s: %w", live.GetNamespace(), live.GetName(), err)
	}
	meta := metav1.TypeMeta{APIVersion: live.GetAPIVersion(), Kind: live.GetKind()}
	s := decodeStack(document.Document{Data: data, Meta: meta}, live.GetNamespace())
	t := newTakeover(s)
	t.ByHand = append(t.ByHand, dropped(live)...)
	t.conditions(live)
	m, complete, err := v.references(ctx, s)
	if err != nil {
		return err
	}
	var found outcome
	if complete {
		found = m.offline(s)
		t.judge(found)
		t.release(s, found)
	}
	if found.plan != nil {
		err = v.objects(ctx, &t, live, found.plan)
	}
	v.found.Stacks = append(v.found.Stacks, t)
	return err
}

// withoutLiveFields returns the fields of an object that a user wrote, as the API server stores them.
func withoutLiveFields(live *unstructured.Unstructured) map[string]any {
	object := live.DeepCopy()
	object.SetManagedFields(nil)
	unstructured.RemoveNestedField(object.Object, "status")
	return object.Object
}

// dropped returns the fields in the manifest that kubectl applied last that do not exist in its version.
func dropped(live *unstructured.Unstructured) []string {
	var applied any
	if decodeNumbers([]byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), &applied) != nil {
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
			texts = append(texts, withPlace(problem, typ)+"; the last applied manifest contains it, and it has no effect")
		}
	}
	return texts
}

// conditions copies the operator's findings from the status, because the operator sees more of a running stack than
// this command.
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

// references reads the ConfigMaps that a stack refers to. It reports whether the stack can be planned; that needs every
// required ConfigMap to be readable by the caller.
func (v *surveyor) references(ctx context.Context, s stack) (*manifests, bool, error) {
	m := &manifests{configMaps: make(map[objectKey]*corev1.ConfigMap), config: v.config, live: true}
	for _, use := range slices.Concat(intent.ConfigMaps(s.object), intent.TrustedCA(s.object)) {
		key := objectKey{cmp.Or(use.Namespace, s.object.Namespace), use.Name}
		configMap := &corev1.ConfigMap{}
		err := v.client.Get(ctx, client.ObjectKey{Namespace: key.namespace, Name: key.name}, configMap)
		switch {
		case err == nil:
			m.configMaps[key] = configMap
		case apierrors.IsNotFound(err) || use.Name == "":
		case apierrors.IsForbidden(err):
			v.unseen(fmt.Sprintf("ConfigMaps of namespace %q: stacks that refer to them cannot be examined", key.namespace))
			if !use.Optional {
				return m, false, nil
			}
		default:
			return m, false, fmt.Errorf("read ConfigMap %q of namespace %q: %w", key.name, key.namespace, err)
		}
	}
	return m, true, nil
}

// readConfig reads the operator's ConfigMap from any namespace.
func (v *surveyor) readConfig(ctx context.Context, p printer) error {
	list := &corev1.ConfigMapList{}
	err := v.client.List(ctx, list, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name",
		names.OperatorConfigMap)}, client.Limit(1))
	switch {
	case apierrors.IsForbidden(err):
		v.unseen("the operator's ConfigMap: stacks are checked as if it did not exist; pass it with --operator-config")
		return nil
	case err != nil:
		return fmt.Errorf("find the operator's ConfigMap: %w", err)
	case len(list.Items) == 0:
		return nil
	}
	v.config, err = configOf(&list.Items[0], "ConfigMap of namespace "+list.Items[0].Namespace, p)
	return err
}
