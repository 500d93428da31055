package watch

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// References maps Secrets and ConfigMaps to the stacks that refer to them, so that these objects do not need a
// label. Every reconcile adds its references before it reads the objects, so that no event after the read is missed.
type References struct {
	mu     sync.RWMutex
	stacks map[types.NamespacedName][]reference
	users  map[reference]map[types.NamespacedName]bool
}

type reference struct {
	kind string
	name types.NamespacedName
}

// NewReferences returns an empty index.
func NewReferences() *References {
	return &References{
		stacks: map[types.NamespacedName][]reference{},
		users:  map[reference]map[types.NamespacedName]bool{},
	}
}

// Set replaces the references of the stack.
func (i *References) Set(stack types.NamespacedName, secrets []intent.SecretUse, configMaps []intent.ConfigMapUse) {
	references := make([]reference, 0, len(secrets)+len(configMaps))
	add := func(kind, namespace, name string) {
		r := reference{kind, types.NamespacedName{Namespace: cmp.Or(namespace, stack.Namespace), Name: name}}
		if !slices.Contains(references, r) {
			references = append(references, r)
		}
	}
	for _, use := range secrets {
		add(kindSecret, "", use.Secret)
	}
	for _, use := range configMaps {
		add(kindConfigMap, use.Namespace, use.Name)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(stack)
	i.stacks[stack] = references
	for _, r := range references {
		if i.users[r] == nil {
			i.users[r] = map[types.NamespacedName]bool{}
		}
		i.users[r][stack] = true
	}
}

// Forget removes the references of a deleted stack.
func (i *References) Forget(stack types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(stack)
}

func (i *References) drop(stack types.NamespacedName) {
	for _, r := range i.stacks[stack] {
		delete(i.users[r], stack)
		if len(i.users[r]) == 0 {
			delete(i.users, r)
		}
	}
	delete(i.stacks, stack)
}

// used reports whether a stack refers to the object.
func (i *References) used(kind string, name types.NamespacedName) bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return len(i.users[reference{kind, name}]) > 0
}

// Requests returns requests for the stacks that refer to the object.
func (i *References) Requests(kind string, name types.NamespacedName) []reconcile.Request {
	i.mu.RLock()
	defer i.mu.RUnlock()
	requests := make([]reconcile.Request, 0, len(i.users[reference{kind, name}]))
	for user := range i.users[reference{kind, name}] {
		requests = append(requests, reconcile.Request{NamespacedName: user})
	}
	return requests
}
