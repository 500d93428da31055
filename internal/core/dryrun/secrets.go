package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

// secret returns a Secret with all its values in the field Data, as an API server stores it. It returns nil if the
// files do not contain the Secret exactly once.
func (m *Manifests) secret(key Key) *corev1.Secret {
	secret, ok := m.Secrets[key]
	if !ok || m.SecretsTwice[key] {
		return nil
	}
	return &corev1.Secret{Type: secret.Type, Data: plan.Files(secret.Data, secret.StringData)}
}

// secretProblems checks the Secrets in the files as the operator checks the Secrets in a cluster. A missing Secret is
// not a problem, because users rarely keep Secrets with manifests, unless it is only in another namespace. Messages do
// not contain values.
func (m *Manifests) secretProblems(in *intent.Intent, wantsText func(variable string) bool) []string {
	var problems []string
	for _, use := range in.Secrets {
		key := Key{Namespace: in.Namespace, Name: use.Secret}
		if other := elsewhere(m, m.Secrets, key); other != "" {
			problems = append(problems, use.Path+": "+m.inOther("Secret", key, other))
		}
		secret := m.secret(key)
		if secret == nil {
			continue
		}
		_, found := secret.Data[use.Key]
		problem := facts.CheckSecret(use, in.Namespace, secret, wantsText(use.EnvVar), m.Now)
		switch {
		case !found:
			problems = append(problems, use.Path+": "+problem.Sentence+"; "+addKey(secret))
		case problem != nil && !slices.Contains(problems, use.Path+": "+problem.Sentence):
			problems = append(problems, use.Path+": "+problem.Sentence)
		case problem != nil: // the other key of the same certificate has the problem too
		case use.Purpose == intent.PurposeConnectionString:
			problems = m.derivedProblems(in.Namespace, []secretvalue.Derived{{
				Secret: use.Secret, SecretKey: use.Key, Part: secretvalue.PartHost, FieldPath: use.Path,
			}}, problems)
		}
	}
	return problems
}

// addKey returns the remedy for a key that a Secret does not have.
func addKey(secret *corev1.Secret) string {
	if len(secret.Data) == 0 {
		return "add the key to the Secret, which has no keys"
	}
	return "add the key to the Secret, or use one of its keys: " +
		strings.Join(slices.Sorted(maps.Keys(secret.Data)), ", ")
}

// derivedProblems checks the values from which the operator derives others, for example the parts of a connection
// string, as the operator does. It appends the new problems to a list.
func (m *Manifests) derivedProblems(namespace string, derived []secretvalue.Derived, problems []string) []string {
	for i := range derived {
		entry := &derived[i]
		secret := m.secret(Key{Namespace: namespace, Name: entry.Secret})
		if secret == nil || len(secret.Data[entry.SecretKey]) == 0 {
			continue // CheckSecret reports an empty value
		}
		if _, err := entry.Derive(string(secret.Data[entry.SecretKey])); err != nil {
			text := fmt.Sprintf("%s: key %q of Secret %q: %v", entry.FieldPath, entry.SecretKey, entry.Secret, err)
			if !slices.Contains(problems, text) {
				problems = append(problems, text)
			}
		}
	}
	return problems
}
