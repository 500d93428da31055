package controller

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// referenceIndex maps Secrets and ConfigMaps to the stacks that refer to them, so that these objects do not need a
// label. Every reconcile adds its references before it reads the objects, so that no event after the read is missed.
type referenceIndex struct {
	mu     sync.RWMutex
	stacks map[types.NamespacedName][]reference
	users  map[reference][]types.NamespacedName
}

// reference is the beginning of a digest of the kind and the name of an object. Names are long, and a stack can refer
// to hundreds of objects.
type reference [16]byte

func referenceTo(kind, namespace, name string) reference {
	sum := sha256.Sum256([]byte(kind + "/" + namespace + "/" + name))
	return reference(sum[:len(reference{})])
}

func newReferenceIndex() *referenceIndex {
	return &referenceIndex{
		stacks: map[types.NamespacedName][]reference{}, users: map[reference][]types.NamespacedName{},
	}
}

// set replaces the references of the stack.
func (i *referenceIndex) set(stack types.NamespacedName, secrets []intent.SecretUse, configMaps []intent.ConfigMapUse) {
	all := map[reference]bool{}
	for _, use := range secrets {
		all[referenceTo(kindSecret, stack.Namespace, use.Secret)] = true
	}
	for _, use := range configMaps {
		all[referenceTo(kindConfigMap, cmp.Or(use.Namespace, stack.Namespace), use.Name)] = true
	}
	references := slices.SortedFunc(maps.Keys(all), func(a, b reference) int { return bytes.Compare(a[:], b[:]) })
	i.mu.Lock()
	defer i.mu.Unlock()
	if slices.Equal(references, i.stacks[stack]) {
		return
	}
	i.drop(stack)
	i.stacks[stack] = references
	for _, r := range references {
		i.users[r] = append(i.users[r], stack)
	}
}

func (i *referenceIndex) forget(stack types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(stack)
}

func (i *referenceIndex) drop(stack types.NamespacedName) {
	for _, r := range i.stacks[stack] {
		i.users[r] = slices.DeleteFunc(i.users[r], func(user types.NamespacedName) bool { return user == stack })
		if len(i.users[r]) == 0 {
			delete(i.users, r)
		}
	}
	delete(i.stacks, stack)
}

// used reports whether a stack refers to the object.
func (i *referenceIndex) used(kind string, name types.NamespacedName) bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return len(i.users[referenceTo(kind, name.Namespace, name.Name)]) > 0
}

// requestsFor returns requests for the stacks that refer to the object.
func (i *referenceIndex) requestsFor(kind string, name types.NamespacedName) []reconcile.Request {
	i.mu.RLock()
	defer i.mu.RUnlock()
	users := i.users[referenceTo(kind, name.Namespace, name.Name)]
	requests := make([]reconcile.Request, 0, len(users))
	for _, user := range users {
		requests = append(requests, reconcile.Request{NamespacedName: user})
	}
	return requests
}
