package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// configMaps is what the spec refers to in ConfigMaps.
type configMaps struct {
	contents resolve.Contents
	// certificates are those to trust, in DER form.
	certificates [][]byte
}

// readConfigMaps reads what the spec refers to. The references are noted before
// anything is read: a change of any of them after that requeues this object.
func (r *Reconciler) readConfigMaps(ctx context.Context, stack *stack, wishes *intent.Intent) (configMaps, error) {
	uses := slices.Concat(intent.ConfigMaps(stack), intent.TrustedCA(stack))
	r.references.set(keyOf(stack), wishes.Secrets, uses)
	contents, err := r.configMaps.Get(ctx, keyOf(stack), uses)
	found := configMaps{contents: contents}
	if err == nil {
		found.certificates, err = readCABundle(stack, uses, contents)
	}
	return found, err
}

// readCABundle takes the certificates that the spec names, each of which has to
// be one; without a wish those that a platform puts into the namespace, as far
// as they are.
func readCABundle(stack *stack, uses []intent.ConfigMapUse, contents resolve.Contents) ([][]byte, error) {
	var certificates [][]byte
	for _, use := range uses {
		switch use.Purpose {
		case intent.PurposeCABundle:
			return readOwnBundle(stack, use, contents[use.ID()])
		case intent.PurposeTrustedCA:
			content := contents[use.ID()]
			for _, key := range slices.Sorted(maps.Keys(content)) {
				found, _ := cabundle.Read(content[key])
				certificates = append(certificates, found...)
			}
		default: // no certificates
		}
	}
	return certificates, nil
}

func readOwnBundle(stack *stack, use intent.ConfigMapUse, content map[string][]byte) ([][]byte, error) {
	var sentences []string
	found, problems := cabundle.Keys(use.Keys, content)
	for _, key := range use.Keys {
		for _, problem := range problems[key] {
			sentences = append(sentences, fmt.Sprintf("Key %q of ConfigMap %q in namespace %q cannot be used: %s. Referenced by: %s",
				key, use.Name, cmp.Or(use.Namespace, stack.Namespace), problem, use.Path))
		}
	}
	if len(sentences) == 0 {
		return found, nil
	}
	return found, &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonConfigMapValueUnusable,
		Message: strings.Join(sentences, "\n"), Retry: status.OnReferenceChange,
	}
}
