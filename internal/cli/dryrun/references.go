package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

// unreadReferences returns notes about the Secrets and the CA bundle that the files do not contain. It returns no notes
// for objects from a cluster.
func (m *Manifests) unreadReferences(object *v1alpha2.LlamaStackDistribution, in *intent.Intent) []string {
	if m.Live {
		return nil
	}
	var notes []string
	contents := m.contents(object)
	for _, use := range intent.ConfigMaps(object) {
		if here := use.Here(); use.Purpose == intent.PurposeCABundle && contents[use.ID()] == nil && contents[here.ID()] == nil {
			notes = append(notes, fmt.Sprintf("%s: the files do not contain ConfigMap %q, so this command does not check its certificates",
				use.Path, use.Name))
		}
	}
	missing := map[string][]string{}
	for _, use := range in.Secrets {
		key := Key{Namespace: in.Namespace, Name: use.Secret}
		_, found := m.Secrets[key]
		if (!found && elsewhere(m, m.Secrets, key) == "" || m.SecretsTwice[key]) &&
			!slices.Contains(missing[use.Secret], use.Key) {
			missing[use.Secret] = append(missing[use.Secret], use.Key)
		}
	}
	if len(missing) == 0 || !m.NotesUnknown {
		return notes
	}
	texts := make([]string, 0, len(missing))
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		texts = append(texts, fmt.Sprintf("%s (%s)", name, strings.Join(slices.Sorted(slices.Values(missing[name])), ", ")))
	}
	return append(notes, "this command does not check Secrets that the files do not contain exactly once: "+
		strings.Join(texts, ", "))
}

// elsewhere returns the namespace of an object that has the same name as a missing object. It returns "" if there is
// none, or if a stack in that namespace can use the object.
func elsewhere[T any](m *Manifests, objects map[Key]T, missing Key) string {
	if _, found := objects[missing]; found || m.Live {
		return ""
	}
	other := ""
	for key := range objects {
		mine := func(s Stack) bool { return s.Object.Namespace == key.Namespace }
		if key.Name == missing.Name && (other == "" || key.Namespace < other) && !slices.ContainsFunc(m.Stacks, mine) {
			other = key.Namespace
		}
	}
	return other
}

// inOther returns the problem with an object that is in another namespace than the stack.
func inOther(kind string, missing Key, other string) string {
	return fmt.Sprintf("%s %q is in namespace %q, and the stack is in namespace %q, so the stack cannot use it; correct one of the "+
		"namespaces", kind, missing.Name, other, missing.Namespace)
}
