package resolve

import (
	"container/list"
	"sync"
	"unique"

	"k8s.io/apimachinery/pkg/types"
)

// maxRemembered is the maximum size, in bytes, of the contents that a memory holds for the stacks in a namespace. Equal
// values count once. The bound for the content of images is the same.
const maxRemembered = 32 << 20

// maxInAll is the same for the stacks in all namespaces together, because a user can have many namespaces.
const maxInAll = 3 * maxRemembered

// memory remembers the contents of ConfigMaps for stacks. If the stacks in a namespace have more than maxRemembered
// bytes, or those in all namespaces have more than maxInAll, the memory forgets those that were read least recently in
// the namespace with the most bytes. The operator then reads them again when it needs them.
type memory struct {
	mu     sync.Mutex
	shares map[string]*share // by namespace
}

// user identifies what a stack remembers: the ConfigMaps to which it refers, or its base configuration.
type user struct {
	stack types.NamespacedName
	base  bool
}

// share is the part of the memory for the stacks in a namespace.
type share struct {
	entries map[user]*list.Element
	order   list.List // of *remembered, least recently used first
	values  map[unique.Handle[string]]int
	size    int
	// shared holds each content once, with the number of its users.
	shared map[version]*shared
}

type shared struct {
	content *content
	users   int
}

// remembered holds the contents for one user, by the ID of the reference.
type remembered struct {
	user     user
	contents map[string]*content
}

// find returns a version that any stack in the namespace of the user remembers, or nil. Callers must not change it.
func (m *memory) find(of user, wanted version) *content {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.shares[of.stack.Namespace]
	if s == nil {
		return nil
	}
	if entry := s.entries[of]; entry != nil {
		s.order.MoveToBack(entry)
	}
	if known := s.shared[wanted]; known != nil {
		return known.content
	}
	return nil
}

// put replaces the contents for a user.
func (m *memory) put(of user, contents map[string]*content) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(of)
	if len(contents) == 0 {
		return
	}
	s := m.shares[of.stack.Namespace]
	if s == nil {
		s = &share{
			entries: map[user]*list.Element{}, values: map[unique.Handle[string]]int{}, shared: map[version]*shared{},
		}
		m.shares[of.stack.Namespace] = s
	}
	s.entries[of] = s.order.PushBack(&remembered{of, contents})
	s.count(contents, 1)
	for s = m.tooLarge(); s != nil; s = m.tooLarge() {
		m.forget(s.order.Front().Value.(*remembered).user) //nolint:forcetypeassert // the list has one type
	}
}

// tooLarge returns the largest share if it, or all shares together, exceed their limit.
func (m *memory) tooLarge() *share {
	var largest *share
	all := 0
	for _, s := range m.shares {
		all += s.size
		if largest == nil || s.size > largest.size {
			largest = s
		}
	}
	if largest != nil && (largest.size > maxRemembered || all > maxInAll) {
		return largest
	}
	return nil
}

// drop forgets the contents for a user.
func (m *memory) drop(of user) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(of)
}

func (m *memory) forget(of user) {
	s := m.shares[of.stack.Namespace]
	if s == nil || s.entries[of] == nil {
		return
	}
	entry := s.order.Remove(s.entries[of]).(*remembered) //nolint:forcetypeassert // the list has one type
	delete(s.entries, of)
	s.count(entry.contents, -1)
	if len(s.entries) == 0 {
		delete(m.shares, of.stack.Namespace)
	}
}

// count adds or removes contents and their values.
func (s *share) count(contents map[string]*content, by int) {
	for _, content := range contents {
		known := s.shared[content.version]
		if known == nil {
			known = &shared{content: content}
			s.shared[content.version] = known
		}
		if known.users += by; known.users == 0 {
			delete(s.shared, content.version)
		}
		s.size += by * content.fixed()
		for _, value := range content.data {
			before := s.values[value]
			switch now := before + by; {
			case now == 0:
				delete(s.values, value)
				s.size -= sizeOf(value)
			case before == 0:
				s.size += sizeOf(value)
				s.values[value] = now
			default:
				s.values[value] = now
			}
		}
	}
}
