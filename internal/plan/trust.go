package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
)

// Trust is what a server shall trust beside the public authorities.
type Trust struct {
	// Own are the certificates that the spec names, in DER form. Nil: it names none.
	Own [][]byte
	// Platform are the certificates that a platform put into the stack's namespace, in DER form. Nil: there are none.
	Platform [][]byte
	// Both reports whether the server is to trust the platform's beside those of the spec, whether there are any or not.
	Both bool
	// Elsewhere is the ConfigMap of another namespace that Own was read from, as intent.ConfigMapUse.ID. Empty: it was
	// read in the stack's own.
	Elsewhere string
	// Warnings tell what of the ConfigMaps is left out, and which one is used in place of another.
	Warnings []stackconfig.Finding
}

// UnusableKey is a key of a ConfigMap that cannot be trusted.
type UnusableKey struct {
	// Use is the reference to the ConfigMap, as far as Namespace is concerned the one that was read.
	Use     intent.ConfigMapUse
	Key     string
	Problem cabundle.Problem
}

// ReadTrust reads the certificates out of what ConfigMaps hold, by intent.ConfigMapUse.ID and key. A ConfigMap that the
// spec names and that is not among them gives no certificate.
//
// Whatever is no certificate makes a key of the user's unusable. A stack of v1alpha1 has been content with the
// certificates beside it: it is warned. What a platform gives is used as far as it can be.
func ReadTrust(stack *v1alpha2.LlamaStackDistribution, contents map[string]map[string][]byte) (Trust, []UnusableKey) {
	var trust Trust
	var unusable []UnusableKey
	for _, use := range slices.Concat(intent.ConfigMaps(stack), intent.TrustedCA(stack)) {
		switch use.Purpose {
		case intent.PurposeCABundle:
			unusable = trust.readOwn(stack, use, contents)
		case intent.PurposeTrustedCA:
			trust.Both = trust.Own != nil
			trust.readPlatform(contents[use.ID()])
		default: // no certificates
		}
	}
	return trust, unusable
}

func (t *Trust) readOwn(
	stack *v1alpha2.LlamaStackDistribution, asked intent.ConfigMapUse, contents map[string]map[string][]byte,
) []UnusableKey {
	content, use := contentOf(contents, asked)
	t.Own = [][]byte{}
	if content == nil {
		return nil
	}
	if use.Namespace != asked.Namespace {
		t.Warnings = append(t.Warnings, takenHere(stack, asked))
	} else if use.Namespace != "" {
		t.Elsewhere = use.ID()
	}
	found, problems := cabundle.Keys(use.Keys, content)
	t.Own = append(t.Own, found...)
	left := map[string][]cabundle.Problem{}
	if names.Compat(stack.Annotations) {
		problems, left = cabundle.LeaveOut(content, problems)
	}
	var unusable []UnusableKey
	for _, key := range use.Keys {
		for _, problem := range left[key] {
			t.Warnings = append(t.Warnings, stackconfig.Finding{Path: use.Path, Message: fmt.Sprintf(
				"key %q of ConfigMap %q: %s: it is left out", key, use.Name, problem)})
		}
		for _, problem := range problems[key] {
			unusable = append(unusable, UnusableKey{Use: use, Key: key, Problem: problem})
		}
	}
	return unusable
}

func (t *Trust) readPlatform(content map[string][]byte) {
	for _, key := range slices.Sorted(maps.Keys(content)) {
		found, _ := cabundle.Read(content[key])
		t.Platform = append(t.Platform, found...)
	}
}

// bundle is the bundle of all certificates; nil: there are none.
func (t *Trust) bundle() *render.CABundle {
	if t.Own == nil && t.Platform == nil {
		return nil
	}
	all := slices.Concat(t.Own, t.Platform)
	return &render.CABundle{PEM: cabundle.PEM(all), Hash: cabundle.Digest(all)}
}

// ReadOverride is the configuration that the spec names, out of what ConfigMaps hold, by intent.ConfigMapUse.ID and key.
// Nil: the spec names none.
func ReadOverride(stack *v1alpha2.LlamaStackDistribution, contents map[string]map[string][]byte) *Override {
	if stack.Spec.OverrideConfig == nil {
		return nil
	}
	asked := intent.OverrideUse(stack)
	files, use := contentOf(contents, asked)
	key := intent.OverrideKey(stack, files)
	override := &Override{Namespace: use.Namespace, ConfigMapName: use.Name, Key: key, Data: files[key], Files: files}
	if use.Namespace != asked.Namespace {
		override.Warnings = []stackconfig.Finding{takenHere(stack, asked)}
	}
	return override
}

// contentOf is what the ConfigMap of a use holds, or, in place of one in another namespace, that of the same name in the
// stack's own, with the use of the one that it is. Nil: neither was read.
func contentOf(contents map[string]map[string][]byte, use intent.ConfigMapUse) (map[string][]byte, intent.ConfigMapUse) {
	content, ok := contents[use.ID()]
	if here := use.Here(); !ok && contents[here.ID()] != nil {
		return contents[here.ID()], here
	}
	return content, use
}

// takenHere tells that a ConfigMap of the stack's own namespace takes the place of one in another. It does not tell
// whether that is there: who may not read it may not know that either.
func takenHere(stack *v1alpha2.LlamaStackDistribution, asked intent.ConfigMapUse) stackconfig.Finding {
	return stackconfig.Finding{Path: asked.Path, Message: fmt.Sprintf(
		"ConfigMap %q of namespace %q is not there, is out of the operator's reach, or its annotation %s does not name %q: "+
			"the ConfigMap of that name in namespace %q is used; name no other namespace, or have that annotation set",
		asked.Name, asked.Namespace, names.AnnotationAllowNamespaces, stack.Namespace, stack.Namespace)}
}
