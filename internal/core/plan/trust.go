package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// Trust holds the certificates that a server trusts in addition to the public authorities.
type Trust struct {
	// Own contains the certificates in the ConfigMap that the spec names, in DER form. It is nil if the spec names no
	// ConfigMap.
	Own [][]byte
	// Platform contains the certificates that a platform provides in the stack's namespace, in DER form. It may be nil.
	Platform [][]byte
	// Elsewhere is the ConfigMap from which Own was read, if that ConfigMap is in another namespace, in the form of
	// intent.ConfigMapUse.ID. Empty means that Own was not read from another namespace.
	Elsewhere string
	// Warnings lists warnings about ignored parts of the ConfigMaps, and about a ConfigMap that replaces another one.
	Warnings []stackconfig.Finding
}

// UnusableKey is a ConfigMap key whose certificates cannot be used, with the problem.
type UnusableKey struct {
	// Use is the reference to the ConfigMap. Its Namespace is the namespace from which the ConfigMap was read.
	Use     intent.ConfigMapUse
	Key     string
	Problem cabundle.Problem
}

// ReadTrust reads the certificates from the contents of ConfigMaps, which are indexed by intent.ConfigMapUse.ID and
// key. A ConfigMap that the spec names and that is missing from the contents adds no certificate.
//
// An entry that is not a certificate makes a key in the user's ConfigMap unusable. In a v1alpha1 stack, such an entry
// only causes a warning, because these stacks have always used the other certificates in the key. In the platform's
// ConfigMap, such an entry is ignored.
func ReadTrust(stack *v1alpha2.LlamaStackDistribution, contents map[string]map[string][]byte) (Trust, []UnusableKey) {
	var trust Trust
	var unusable []UnusableKey
	for _, use := range slices.Concat(intent.ConfigMaps(stack), intent.TrustedCA(stack)) {
		switch use.Purpose {
		case intent.PurposeCABundle:
			unusable = trust.readOwn(stack, use, contents)
		case intent.PurposeTrustedCA:
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
	if profile.Of(stack.Annotations).LeavesOutCertificates {
		problems, left = cabundle.LeaveOut(content, problems)
	}
	var unusable []UnusableKey
	for _, key := range use.Keys {
		for _, problem := range left[key] {
			t.Warnings = append(t.Warnings, stackconfig.Finding{Path: use.Path, Message: fmt.Sprintf(
				"key %q of ConfigMap %q: %s; the operator ignores this entry", key, use.Name, problem)})
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

// bundle returns the bundle of all certificates. It returns nil if the spec names no ConfigMap and the platform
// provides no certificates.
func (t *Trust) bundle() *render.CABundle {
	if t.Own == nil && t.Platform == nil {
		return nil
	}
	all := slices.Concat(t.Own, t.Platform)
	return &render.CABundle{PEM: cabundle.PEM(all), Hash: cabundle.Digest(all)}
}

// ReadOverride returns the configuration that the spec names, from the contents of ConfigMaps, which are indexed by
// intent.ConfigMapUse.ID and key. It returns nil if the spec has no overrideConfig.
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

// ReadBase returns the base configuration that the spec names, from the contents of ConfigMaps. It returns nil if the
// spec has no baseConfig, or if the key was not read.
func ReadBase(stack *v1alpha2.LlamaStackDistribution, contents map[string]map[string][]byte) *Base {
	given := stack.Spec.BaseConfig
	if given == nil {
		return nil
	}
	data, ok := contents[given.ConfigMapName][cmp.Or(given.Key, v1alpha2.DefaultConfigKey)]
	if !ok {
		return nil
	}
	return &Base{Data: data, Source: v1alpha2.ConfigSourceConfigMap}
}

// Files returns the data of a ConfigMap or Secret, as a pod mounts it.
func Files(data map[string][]byte, texts map[string]string) map[string][]byte {
	files := make(map[string][]byte, len(data)+len(texts))
	maps.Copy(files, data)
	for key, text := range texts {
		files[key] = []byte(text)
	}
	return files
}

// contentOf returns the content of the ConfigMap that a use refers to. If that ConfigMap is in another namespace and
// was not read, contentOf returns the content of the ConfigMap with the same name in the stack's own namespace. It also
// returns the use of the ConfigMap that was found. The content is nil if neither ConfigMap was read.
func contentOf(
	contents map[string]map[string][]byte, use intent.ConfigMapUse,
) (map[string][]byte, intent.ConfigMapUse) {
	content, ok := contents[use.ID()]
	if here := use.Here(); !ok && contents[here.ID()] != nil {
		return contents[here.ID()], here
	}
	return content, use
}

// takenHere returns a warning that a ConfigMap in the stack's own namespace replaces a ConfigMap in another namespace.
// The warning does not reveal whether the other ConfigMap exists, because the user might not have permission to read
// it.
func takenHere(stack *v1alpha2.LlamaStackDistribution, asked intent.ConfigMapUse) stackconfig.Finding {
	return stackconfig.Finding{Path: asked.Path, Message: fmt.Sprintf(
		"either ConfigMap %q does not exist in namespace %q, or the operator has no access to it, or its annotation %s "+
			"does not contain the namespace %q; the operator therefore uses the ConfigMap with the same name in namespace %q; remove configMapNamespace from the spec, or ask the owner of the ConfigMap in namespace %q to set the annotation",
		asked.Name, asked.Namespace, names.AnnotationAllowNamespaces, stack.Namespace, stack.Namespace, asked.Namespace)}
}
