package testutil

import (
	"context"
	"runtime"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Uncached replaces a cache. It reads without a cache, and emulates the indexes of a cache, which an API server does
// not have.
type Uncached struct {
	cache.Cache
	client.Reader

	indexes map[string]client.IndexerFunc // by field
}

// NewUncached returns an Uncached without indexes.
func NewUncached(reader client.Reader) Uncached {
	return Uncached{Reader: reader, indexes: map[string]client.IndexerFunc{}}
}

// Get reads without the cache.
func (u Uncached) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	return u.Reader.Get(ctx, key, object, options...)
}

// List reads a list without the cache, and filters it by the emulated indexes.
func (u Uncached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	index := asked.FieldSelector
	asked.FieldSelector = nil
	if err := u.Reader.List(ctx, list, asked); err != nil || index == nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	found := items[:0]
	for _, item := range items {
		if object, ok := item.(client.Object); ok && u.indexed(index, object) {
			found = append(found, item)
		}
	}
	return meta.SetList(list, found)
}

// IndexField records the function of an index, for all kinds.
func (u Uncached) IndexField(_ context.Context, _ client.Object, field string, values client.IndexerFunc) error {
	u.indexes[field] = values
	return nil
}

// indexed reports whether an object matches a selector of an emulated index.
func (u Uncached) indexed(index fields.Selector, object client.Object) bool {
	for field, values := range u.indexes {
		if want, asked := index.RequiresExactMatch(field); asked {
			return slices.Contains(values(object), want)
		}
	}
	return false
}

// NewOperatorConfigMap returns the operator's ConfigMap with one key.
func NewOperatorConfigMap(key, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: names.OperatorNamespace, Name: names.OperatorConfigMap},
		Data:       map[string]string{key: value},
	}
}

// NewStack decodes a spec strictly, and returns a stack with that spec.
func NewStack(t testing.TB, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	object.SetGroupVersionKind(v1alpha2.GroupVersionKind)
	object.Name, object.Namespace, object.UID, object.Generation = "my", "team", "uid-of-my", 1
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	return object
}

// ChildMeta returns the metadata of an object that the stack controls.
func ChildMeta(stack *v1alpha2.LlamaStackDistribution, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: stack.Namespace, Name: name, Labels: names.Labels(stack.Name),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(stack, v1alpha2.GroupVersionKind)},
	}
}

// Heap returns the size of the heap in bytes, without garbage.
func Heap() int {
	var memory runtime.MemStats
	runtime.GC()
	runtime.GC() // the first one only clears pools, and the handles that package unique holds
	runtime.ReadMemStats(&memory)
	return int(memory.HeapAlloc)
}
