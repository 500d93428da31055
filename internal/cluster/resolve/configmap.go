package resolve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ConfigMaps reads referenced ConfigMaps. The manager caches only their metadata. ConfigMaps reads the content of a
// ConfigMap again when its resource version changes, and remembers the content while a stack refers to it. The stacks
// of a namespace share what they read.
type ConfigMaps struct {
	cache      client.Reader
	direct     client.Reader
	namespaces []string

	memory *memory
}

// version identifies the given keys of one version of a ConfigMap. All versions have the same size, because a stack can
// need many keys with long names.
type version struct {
	name            types.NamespacedName
	uid             types.UID
	resourceVersion string
	keys            [sha256.Size]byte
}

func newVersion(configMap metav1.Object, keys []string) version {
	return version{
		name: types.NamespacedName{Namespace: configMap.GetNamespace(), Name: configMap.GetName()},
		uid:  configMap.GetUID(), resourceVersion: configMap.GetResourceVersion(),
		keys: sha256.Sum256(fmt.Appendf(nil, "%t %q", keys == nil, keys)),
	}
}

// content is the needed content of one version of a ConfigMap.
type content struct {
	version    version
	controller types.UID
	// allows is the value of the annotation that names the namespaces whose stacks may read the ConfigMap.
	allows string
	// data holds handles, so that equal values share memory, even in ConfigMaps of different stacks.
	data map[string]unique.Handle[string]
}

// contentOf keeps the given keys of a ConfigMap, or all keys if there are none, because a ConfigMap can hold a megabyte
// under keys that the stack does not use.
func contentOf(configMap *corev1.ConfigMap, keys []string) *content {
	found := &content{
		version: newVersion(configMap, keys),
		allows:  configMap.Annotations[names.AnnotationAllowNamespaces], data: map[string]unique.Handle[string]{},
	}
	if controller := metav1.GetControllerOfNoCopy(configMap); controller != nil {
		found.controller = controller.UID
	}
	needed := func(key string) bool { return keys == nil || slices.Contains(keys, key) }
	for key, value := range configMap.Data {
		if needed(key) {
			found.data[key] = unique.Make(value)
		}
	}
	for key, value := range configMap.BinaryData {
		if needed(key) {
			found.data[key] = unique.Make(string(value))
		}
	}
	return found
}

// These are the numbers of bytes that a key, and a value that several contents can share, need in addition to their
// text.
const (
	keyBytes   = 64
	valueBytes = 256
)

// fixed returns the size of the parts of a content that are not shared with other contents.
func (c *content) fixed() int {
	total := len(c.allows) + len(c.controller)
	for key := range c.data {
		total += keyBytes + len(key)
	}
	return total
}

// size returns the number of bytes that a content needs in memory.
func (c *content) size() int {
	total := c.fixed()
	for _, value := range c.data {
		total += sizeOf(value)
	}
	return total
}

// sizeOf returns the number of bytes that a value needs in memory.
func sizeOf(value unique.Handle[string]) int { return valueBytes + len(value.Value()) }

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
	return &ConfigMaps{cache: cache, direct: direct, namespaces: namespaces, memory: &memory{shares: map[string]*share{}}}
}

// Contents holds the contents of ConfigMaps, by intent.ConfigMapUse.ID and key.
type Contents map[string]map[string][]byte

// Forget drops the content that ConfigMaps remembers for a deleted stack.
func (c *ConfigMaps) Forget(stack types.NamespacedName) {
	c.memory.drop(user{stack: stack})
	c.memory.drop(user{stack: stack, base: true})
}

// Get reads every ConfigMap that the stack refers to, and counts the needed keys against the budget. The error is a
// *status.Failure that lists all missing ConfigMaps and keys, or the error of a failed read.
func (c *ConfigMaps) Get(
	ctx context.Context, stack types.NamespacedName, uses []intent.ConfigMapUse, budget *Budget,
) (Contents, error) {
	contents, kept := Contents{}, map[string]*content{}
	problems := &problems{condition: v1alpha2.ConditionValidationSucceeded}
	for _, use := range uses {
		found, use, err := c.find(ctx, stack, use, problems)
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		namespace := cmp.Or(use.Namespace, stack.Namespace)
		if !budget.Take(found.size()) {
			return nil, exceeded(problems.condition, v1alpha2.ReasonConfigMapValueUnusable,
				fmt.Sprintf("ConfigMap %q in namespace %q", use.Name, namespace), use.Path)
		}
		problems.addMissingKeys(use, found, namespace)
		contents[use.ID()], kept[use.ID()] = found.bytes(), found
	}
	c.memory.put(user{stack: stack}, kept)
	return contents, problems.failure()
}

// find returns the content of the ConfigMap that a use refers to, and the use for the namespace in which the ConfigMap
// was found. A nil content means that find could read no ConfigMap.
func (c *ConfigMaps) find(
	ctx context.Context, stack types.NamespacedName, use intent.ConfigMapUse, problems *problems,
) (*content, intent.ConfigMapUse, error) {
	for _, candidate := range facts.Candidates(use) {
		found, err := c.asked(ctx, stack, candidate)
		if err != nil || found != nil {
			return found, candidate, err
		}
	}
	if !use.Optional {
		problems.add(v1alpha2.ReasonConfigMapNotFound, c.notFound(use, stack.Namespace), use.Path)
	}
	return nil, use, nil
}

// asked returns the content of the ConfigMap that a use refers to, without the fallback to the stack's own namespace.
// It returns nil if the ConfigMap does not exist or cannot be read for the stack.
func (c *ConfigMaps) asked(ctx context.Context, stack types.NamespacedName, use intent.ConfigMapUse) (*content, error) {
	if c.outOfReach(use) {
		return nil, nil
	}
	name := types.NamespacedName{Namespace: cmp.Or(use.Namespace, stack.Namespace), Name: use.Name}
	found, err := c.read(ctx, user{stack: stack}, name, use.NeededKeys())
	if err == nil && found != nil &&
		!facts.MayRead(use, map[string]string{names.AnnotationAllowNamespaces: found.allows}, stack.Namespace) {
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

// read returns the needed keys of one ConfigMap, or nil if it does not exist.
func (c *ConfigMaps) read(
	ctx context.Context, of user, key types.NamespacedName, keys []string,
) (*content, error) {
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	if err := c.cache.Get(ctx, key, metadata); err != nil {
		return nil, ignoreNotFound(err, key.Name)
	}
	if known := c.memory.find(of, newVersion(metadata, keys)); known != nil {
		return known, nil
	}
	var configMap corev1.ConfigMap
	// With a resource version, the API server can serve the read from its cache.
	known := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: metadata.ResourceVersion}}
	if err := c.direct.Get(ctx, key, &configMap, known); err != nil {
		return nil, ignoreNotFound(err, key.Name)
	}
	return contentOf(&configMap, keys), nil
}

func ignoreNotFound(err error, name string) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("read ConfigMap %q: %w", name, err)
}

// KeptBase returns the base configuration from the ConfigMap that the stack's record names (decision 0004). It returns
// nil if that ConfigMap does not exist or the stack does not own it.
func (c *ConfigMaps) KeptBase(
	ctx context.Context, stack types.NamespacedName, owner types.UID, name string,
) ([]byte, error) {
	of, keys := user{stack: stack, base: true}, []string{names.BaseFile}
	found, err := c.read(ctx, of, types.NamespacedName{Namespace: stack.Namespace, Name: name}, keys)
	if err != nil || found == nil || found.controller != owner {
		return nil, err
	}
	c.memory.put(of, map[string]*content{name: found})
	return found.bytes()[names.BaseFile], nil
}
