package resolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// ConfigMaps reads referenced ConfigMaps. The manager caches only their metadata. ConfigMaps reads the content of a
// ConfigMap again when its resource version changes, and remembers the content while a stack refers to it.
type ConfigMaps struct {
	cache      client.Reader
	direct     client.Reader
	namespaces []string

	mu sync.Mutex
	// stacks holds the ConfigMaps that each stack refers to. The field bases holds the ConfigMap with the base
	// configuration of each stack.
	stacks, bases map[types.NamespacedName]map[string]content
}

// content is the content of one version of a ConfigMap.
type content struct {
	uid             types.UID
	resourceVersion string
	controller      types.UID
	annotations     map[string]string
	// data holds handles, so that equal values share memory, even in ConfigMaps of different stacks.
	data map[string]unique.Handle[string]
}

func contentOf(configMap *corev1.ConfigMap) *content {
	found := &content{
		uid: configMap.UID, resourceVersion: configMap.ResourceVersion, annotations: configMap.Annotations,
		data: map[string]unique.Handle[string]{},
	}
	if controller := metav1.GetControllerOfNoCopy(configMap); controller != nil {
		found.controller = controller.UID
	}
	for key, value := range configMap.Data {
		found.data[key] = unique.Make(value)
	}
	for key, value := range configMap.BinaryData {
		found.data[key] = unique.Make(string(value))
	}
	return found
}

func (c *content) bytes() map[string][]byte {
	data := make(map[string][]byte, len(c.data))
	for key, value := range c.data {
		data[key] = []byte(value.Value())
	}
	return data
}

// NewConfigMaps returns a ConfigMaps that reads metadata from the cache and content directly from the API server. It
// reads in the given namespaces, or in all namespaces if no namespace is given.
func NewConfigMaps(cache, direct client.Reader, namespaces ...string) *ConfigMaps {
	return &ConfigMaps{
		cache: cache, direct: direct, namespaces: namespaces,
		stacks: map[types.NamespacedName]map[string]content{}, bases: map[types.NamespacedName]map[string]content{},
	}
}

// Contents holds the contents of ConfigMaps, by intent.ConfigMapUse.ID and key.
type Contents map[string]map[string][]byte

// Forget drops the content that ConfigMaps remembers for a deleted stack.
func (c *ConfigMaps) Forget(stack types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stacks, stack)
	delete(c.bases, stack)
}

// Get reads every ConfigMap that the stack refers to. The error is a *status.Failure that lists all missing ConfigMaps
// and keys, or the error of a failed read.
func (c *ConfigMaps) Get(
	ctx context.Context, stack types.NamespacedName, uses []intent.ConfigMapUse,
) (Contents, error) {
	contents, kept := Contents{}, map[string]content{}
	problems := &problems{condition: v1alpha2.ConditionValidationSucceeded}
	for _, use := range uses {
		found, use, err := c.find(ctx, stack, use, problems)
		if err != nil {
			return nil, err
		}
		if found != nil {
			problems.addMissingKeys(use, found, cmp.Or(use.Namespace, stack.Namespace))
			contents[use.ID()], kept[use.ID()] = found.bytes(), *found
		}
	}
	c.mu.Lock()
	c.stacks[stack] = kept
	c.mu.Unlock()
	return contents, problems.failure()
}

// find returns the content of the ConfigMap that a use refers to, and the use for the namespace in which the ConfigMap
// was found. If a ConfigMap in another namespace does not exist or cannot be read, find reads the ConfigMap with the
// same name in the stack's own namespace, unless the use is optional or has NoOther set. A nil content means that find
// could read no ConfigMap.
func (c *ConfigMaps) find(
	ctx context.Context, stack types.NamespacedName, use intent.ConfigMapUse, problems *problems,
) (*content, intent.ConfigMapUse, error) {
	found, err := c.asked(ctx, stack, use)
	if err != nil || found != nil || use.Optional {
		return found, use, err
	}
	if here := use.Here(); use.Namespace != "" && !use.NoOther {
		if found, err = c.asked(ctx, stack, here); err != nil || found != nil {
			return found, here, err
		}
	}
	problems.add(v1alpha2.ReasonConfigMapNotFound, c.notFound(use, stack.Namespace), use.Path)
	return nil, use, nil
}

// asked returns the content of the ConfigMap that a use refers to, without the fallback to the stack's own namespace.
// It returns nil if the ConfigMap does not exist or cannot be read for the stack.
func (c *ConfigMaps) asked(ctx context.Context, stack types.NamespacedName, use intent.ConfigMapUse) (*content, error) {
	if c.outOfReach(use) {
		return nil, nil
	}
	name := types.NamespacedName{Namespace: cmp.Or(use.Namespace, stack.Namespace), Name: use.Name}
	found, err := c.read(ctx, c.stacks, stack, name, use.ID())
	if err == nil && found != nil && use.Namespace != "" && !names.AllowsNamespace(found.annotations, stack.Namespace) {
		return nil, nil
	}
	return found, err
}

// outOfReach reports whether a use refers to a namespace that the operator does not watch.
func (c *ConfigMaps) outOfReach(use intent.ConfigMapUse) bool {
	return use.Namespace != "" && len(c.namespaces) > 0 && !slices.Contains(c.namespaces, use.Namespace)
}

// addMissingKeys adds a problem for each key that a use needs and that the ConfigMap does not contain.
func (p *problems) addMissingKeys(use intent.ConfigMapUse, found *content, namespace string) {
	missing := func(key string) bool { _, ok := found.data[key]; return !ok }
	for _, key := range use.Keys {
		if missing(key) {
			p.add(v1alpha2.ReasonConfigMapKeyMissing, fmt.Sprintf("Key %q not found in ConfigMap %q in namespace %q", key, use.Name, namespace), use.Path)
		}
	}
	if len(use.AnyOf) > 0 && !slices.ContainsFunc(use.AnyOf, func(key string) bool { return !missing(key) }) {
		p.add(v1alpha2.ReasonConfigMapKeyMissing, fmt.Sprintf("ConfigMap %q in namespace %q has none of the keys %s; add one of these keys",
			use.Name, namespace, strings.Join(use.AnyOf, ", ")), use.Path)
	}
}

// notFound returns the message for a ConfigMap that does not exist or cannot be read. For a ConfigMap in another
// namespace, the message does not reveal whether the ConfigMap exists, because the author of the stack might not have
// access to that namespace.
func (c *ConfigMaps) notFound(use intent.ConfigMapUse, namespace string) string {
	switch {
	case c.outOfReach(use):
		return fmt.Sprintf("ConfigMap %q in namespace %q cannot be read: this operator does not watch that namespace; "+
			"refer to a ConfigMap in the namespace of the stack, or add %q to the operator's --watch-namespaces",
			use.Name, use.Namespace, use.Namespace)
	case use.Namespace == "":
		return fmt.Sprintf("ConfigMap %q not found in namespace %q", use.Name, namespace)
	}
	return fmt.Sprintf("ConfigMap %q in namespace %q does not exist, or its annotation %s does not contain the "+
		"namespace %q; create the ConfigMap, or add the namespace %q to the annotation",
		use.Name, use.Namespace, names.AnnotationAllowNamespaces, namespace, namespace)
}

// read returns the content of one ConfigMap, or nil if it does not exist. The parameter id is the key under which the
// content is remembered for the stack.
func (c *ConfigMaps) read(
	ctx context.Context, memory map[types.NamespacedName]map[string]content, stack, key types.NamespacedName, id string,
) (*content, error) {
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	if err := c.cache.Get(ctx, key, metadata); err != nil {
		return nil, ignoreNotFound(err, key.Name)
	}
	c.mu.Lock()
	before, ok := memory[stack][id]
	c.mu.Unlock()
	if ok && before.uid == metadata.UID && before.resourceVersion == metadata.ResourceVersion {
		return &before, nil
	}
	var configMap corev1.ConfigMap
	// With a resource version, the API server can serve the read from its cache.
	known := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: metadata.ResourceVersion}}
	if err := c.direct.Get(ctx, key, &configMap, known); err != nil {
		return nil, ignoreNotFound(err, key.Name)
	}
	return contentOf(&configMap), nil
}

func ignoreNotFound(err error, name string) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("read ConfigMap %q: %w", name, err)
}
