package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// unreadReferences returns notes about the CA bundle and the Secrets that the files do not contain. It returns no notes
// for objects from a cluster.
func (m *Manifests) unreadReferences(object *v1alpha2.LlamaStackDistribution, in *intent.Intent) []string {
	if m.Live {
		return nil
	}
	var notes []string
	for _, use := range m.running.ConfigMaps(object) {
		if _, files := m.find(use, object.Namespace); files == nil && use.Purpose == intent.PurposeCABundle {
			notes = append(notes, fmt.Sprintf("%s: %s not contain ConfigMap %q, so this command does not check its certificates",
				use.Path, m.sourceDoes(), use.Name))
		}
	}
	if m.NotesUnknown {
		notes = append(notes, m.unreadSecrets(in)...)
	}
	return notes
}

// unreadSecrets returns a note with the keys of the Secrets that the files do not contain, and a note with the keys of
// those that they contain more than once.
func (m *Manifests) unreadSecrets(in *intent.Intent) []string {
	missing, twice := map[string][]string{}, map[string][]string{}
	for _, use := range in.Secrets {
		key := Key{Namespace: in.Namespace, Name: use.Secret}
		_, found := m.Secrets[key]
		switch {
		case m.SecretsTwice[key]:
			twice[use.Secret] = append(twice[use.Secret], use.Key)
		case !found && elsewhere(m, m.Secrets, key) == "":
			missing[use.Secret] = append(missing[use.Secret], use.Key)
		}
	}
	var notes []string
	for _, unread := range []struct {
		keys map[string][]string
		why  string
	}{{missing, "do not contain the Secret"}, {twice, "contain the Secret more than once"}} {
		if len(unread.keys) > 0 {
			notes = append(notes, fmt.Sprintf("this command does not check these keys, because the files %s: %s", unread.why, keysOf(unread.keys)))
		}
	}
	return notes
}

// keysOf returns the keys of Secrets, such as "db (password, url), vllm (token)".
func keysOf(secrets map[string][]string) string {
	texts := make([]string, 0, len(secrets))
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		keys := slices.Compact(slices.Sorted(slices.Values(secrets[name])))
		texts = append(texts, fmt.Sprintf("%s (%s)", name, strings.Join(keys, ", ")))
	}
	return intent.Listed(texts)
}

// sourceDoes returns the subject of a sentence about the source of the objects, with its verb.
func (m *Manifests) sourceDoes() string {
	if m.Pasted {
		return "the text does"
	}
	return "the files do"
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
func (m *Manifests) inOther(kind string, missing Key, other string) string {
	remedy := "correct one of the namespaces"
	if !m.Pasted {
		remedy += ", or set --namespace for objects without a namespace"
	}
	return fmt.Sprintf("%s %q is in namespace %q, and the stack is in namespace %q, so the stack cannot use it; %s",
		kind, missing.Name, other, missing.Namespace, remedy)
}
