package kube

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// PodSelector selects the pods of a stack, and the pods in which the operator tests a change.
func PodSelector(stack string) labels.Selector {
	selector := labels.SelectorFromSet(labels.Set{names.LabelInstance: stack})
	requirement, err := labels.NewRequirement(names.LabelApp, selection.In, []string{names.App, names.PreflightApp})
	if err != nil {
		return selector // never happens, because the values are valid
	}
	return selector.Add(*requirement)
}

// ReleaseLine returns the release line of a stack's configuration.
func ReleaseLine(stack *v1alpha2.LlamaStackDistribution) string {
	if stack.Status.ResolvedDistribution == nil {
		return ""
	}
	return stack.Status.ResolvedDistribution.ServerRelease
}

// errNoConfig is the error for a stack whose configuration is not in a ConfigMap.
var errNoConfig = errors.New("the stack uses the configuration in its image, and no ConfigMap contains this configuration")

// ServerConfig returns the configuration of a stack's server: the generated configuration, or the one in
// spec.overrideConfig.
func (c *Cluster) ServerConfig(ctx context.Context, stack *v1alpha2.LlamaStackDistribution) ([]byte, error) {
	name, keys := stack.Status.GeneratedConfigMap(), []string{names.ConfigFile}
	if override := stack.Spec.OverrideConfig; override != nil {
		name, keys = override.ConfigMapName, []string{override.Key, names.ConfigFile, names.OlderConfigFile}
	}
	if name == "" {
		return nil, errNoConfig
	}
	object := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, object); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if text, found := object.Data[key]; found {
			return []byte(text), nil
		}
	}
	return nil, errNoConfig
}
