package watch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// group identifies the stacks that an event affects, such as the stacks that refer to a Secret. An event handler runs
// before the fair queue, and delays the events of all namespaces, so it must not search for stacks. Instead, it adds a
// request for the group. A worker then requeues the stacks of the group, when it is the turn of the namespace in which
// the event occurred. Several events for a group result in one search.
type group struct {
	kind, name string
}

// These are the kinds of groups, in addition to kindSecret and kindConfigMap for the stacks that refer to an object.
const (
	// groupHostnames contains the stacks that request one of the host names in the group's name.
	groupHostnames = "host names"
	// groupBounds contains the stacks of a namespace that exceed its bounds.
	groupBounds = "bounds"
)

// groupSeparator separates the kind from the name of a group. No name of a stack contains it.
const groupSeparator = "/"

// request returns the request for a group. The namespace is the one in which the event occurred.
func (g group) request(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{
		Namespace: namespace, Name: g.kind + groupSeparator + g.name,
	}}
}

// requestsFor returns a request for a stack. It returns none for a name that is the request for a group: users write
// the names in owner references and events, and could otherwise request any search.
func requestsFor(namespace, name string) []reconcile.Request {
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	if _, ok := groupOf(request); ok {
		return nil
	}
	return []reconcile.Request{request}
}

// groupOf returns the group that a request is for. It returns false if the request is for a stack.
func groupOf(request reconcile.Request) (group, bool) {
	kind, name, ok := strings.Cut(request.Name, groupSeparator)
	return group{kind, name}, ok
}

// RequeueGroup requeues the stacks of a group. It returns false if the request is for a stack.
func (s *Stacks) RequeueGroup(ctx context.Context, request reconcile.Request) (bool, error) {
	g, ok := groupOf(request)
	if !ok {
		return false, nil
	}
	requests, err := s.stacksIn(ctx, g, request.Namespace)
	for _, request := range requests {
		s.add(request)
	}
	return true, err
}

// stacksIn returns requests for the stacks of a group.
func (s *Stacks) stacksIn(ctx context.Context, g group, namespace string) ([]reconcile.Request, error) {
	switch g.kind {
	case groupHostnames:
		return s.Hosts.Uninformed(ctx, strings.Split(g.name, hostnameSeparator))
	case groupBounds:
		return s.stacksWhere(ctx, forbiddenByBounds, client.InNamespace(namespace)), nil
	default:
		return s.References.Requests(g.kind, types.NamespacedName{Namespace: namespace, Name: g.name}), nil
	}
}

// References maps Secrets and ConfigMaps to the stacks that refer to them, so that these objects do not need a
// label. Every reconcile adds its references before it reads the objects, so that no event after the read is missed.
type References struct {
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

// newReferences returns an empty index.
func newReferences() *References {
	return &References{
		stacks: map[types.NamespacedName][]reference{}, users: map[reference][]types.NamespacedName{},
	}
}

// Set replaces the references of the stack.
func (i *References) Set(stack types.NamespacedName, secrets []intent.SecretUse, configMaps []intent.ConfigMapUse) {
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

// Forget removes the references of a deleted stack.
func (i *References) Forget(stack types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(stack)
}

func (i *References) drop(stack types.NamespacedName) {
	for _, r := range i.stacks[stack] {
		i.users[r] = slices.DeleteFunc(i.users[r], func(user types.NamespacedName) bool { return user == stack })
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
	return len(i.users[referenceTo(kind, name.Namespace, name.Name)]) > 0
}

// Requests returns requests for the stacks that refer to the object.
func (i *References) Requests(kind string, name types.NamespacedName) []reconcile.Request {
	i.mu.RLock()
	defer i.mu.RUnlock()
	users := i.users[referenceTo(kind, name.Namespace, name.Name)]
	requests := make([]reconcile.Request, 0, len(users))
	for _, user := range users {
		requests = append(requests, reconcile.Request{NamespacedName: user})
	}
	return requests
}
