package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
)

// secretProblems checks the Secrets in the files as the operator checks the Secrets in a cluster. A missing Secret is
// not a problem, because users rarely keep Secrets with manifests, unless it is only in another namespace. Messages do
// not contain values.
func (m *Manifests) secretProblems(in *intent.Intent, rel *release.Release) []string {
	wantsText := stackconfig.WantsText(in, rel)
	var problems []string
	for _, use := range in.Secrets {
		key := Key{Namespace: in.Namespace, Name: use.Secret}
		secret, ok := m.Secrets[key]
		if other := elsewhere(m, m.Secrets, key); other != "" {
			problems = append(problems, use.Path+": "+m.inOther("Secret", key, other))
		}
		if !ok || m.SecretsTwice[key] {
			continue
		}
		if problem := m.secretProblem(secret, use, wantsText(use.EnvVar)); problem != "" {
			problems = append(problems, use.Path+": "+problem)
		}
	}
	return problems
}

// secretProblem returns the problem with one key, or "" if there is none.
func (m *Manifests) secretProblem(secret *corev1.Secret, use intent.SecretUse, wantsText bool) string {
	values := content(secret.Data, secret.StringData)
	value, ok := values[use.Key]
	key := fmt.Sprintf("key %q of Secret %q", use.Key, use.Secret)
	switch {
	case !ok && len(values) == 0:
		return fmt.Sprintf("Secret %q has no keys; add the key %q", use.Secret, use.Key)
	case !ok:
		return fmt.Sprintf("Secret %q has no key %q; add the key to the Secret, or use one of its keys: %s", use.Secret, use.Key,
			strings.Join(slices.Sorted(maps.Keys(values)), ", "))
	case len(value) > 0 && use.Purpose == intent.PurposeCertificate:
		typed := corev1.Secret{Type: secret.Type, Data: values}
		if err := cabundle.CheckSecret(&typed, m.Now); err != nil {
			return fmt.Sprintf("Secret %q %v", use.Secret, err)
		}
	case len(value) > 0 && use.Purpose == intent.PurposeConnectionString:
		if _, err := secretvalue.Derive(secretvalue.PartHost, string(value)); err != nil {
			return key + ": " + err.Error()
		}
	default:
		if err := secretvalue.Environment(use.EnvVar, value, wantsText); err != nil {
			return key + " " + err.Error()
		}
	}
	return ""
}

// derivedProblems checks the values from which the operator derives others, for example the parts of a connection
// string, as the operator does. It appends the new problems to a list.
func (m *Manifests) derivedProblems(namespace string, derived []secretvalue.Derived, problems []string) []string {
	for i := range derived {
		entry := &derived[i]
		key := Key{Namespace: namespace, Name: entry.Secret}
		secret, ok := m.Secrets[key]
		if !ok || m.SecretsTwice[key] {
			continue
		}
		value := content(secret.Data, secret.StringData)[entry.SecretKey]
		if len(value) == 0 {
			continue // secretProblem reports it
		}
		if _, err := entry.Derive(string(value)); err != nil {
			text := fmt.Sprintf("%s: key %q of Secret %q: %v", entry.FieldPath, entry.SecretKey, entry.Secret, err)
			if !slices.Contains(problems, text) {
				problems = append(problems, text)
			}
		}
	}
	return problems
}
