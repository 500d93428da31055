package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// readCABundle takes the certificates that the spec names, each of which has to
// be one; without a wish those that a platform puts into the namespace, as far
// as they are.
func readCABundle(s *state, uses []intent.ConfigMapUse) error {
	for _, use := range uses {
		switch use.Purpose {
		case intent.PurposeCABundle:
			return readOwnBundle(s, use)
		case intent.PurposeTrustedCA:
			content := s.configMaps[use.ID()]
			for _, key := range slices.Sorted(maps.Keys(content)) {
				found, _ := cabundle.Read(content[key])
				s.certificates = append(s.certificates, found...)
			}
		default: // no certificates
		}
	}
	return nil
}

func readOwnBundle(s *state, use intent.ConfigMapUse) error {
	var sentences []string
	found, problems := cabundle.Keys(use.Keys, s.configMaps[use.ID()])
	s.certificates = found
	for _, key := range use.Keys {
		for _, problem := range problems[key] {
			sentences = append(sentences, fmt.Sprintf("Key %q of ConfigMap %q in namespace %q cannot be used: %s. Referenced by: %s",
				key, use.Name, cmp.Or(use.Namespace, s.object.Namespace), problem, use.Path))
		}
	}
	if len(sentences) == 0 {
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonConfigMapValueUnusable,
		Message: strings.Join(sentences, "\n"), Retry: status.OnReferenceChange,
	}
}
