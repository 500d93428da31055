package validate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
)

// endpoints warns about endpoints that are probably mistakes. It ignores an endpoint that refers to a variable, or that
// contains a user.
func endpoints(c *checks) []string {
	found := endpointFindings{alone: c.alone(), own: strconv.Itoa(int(c.intent.Server.Port))}
	for i := range c.intent.Providers {
		p := &c.intent.Providers[i]
		found.check(p.Path.Child("endpoint"), p.Endpoint, p.API == inference)
		found.settings(p.Path.Child("settings"), p.Settings, p.API == inference)
	}
	for i := range c.intent.External {
		p := &c.intent.External[i]
		found.settings(p.Path.Child("config"), p.Config, p.API == inference)
	}
	for i := range c.intent.Tools {
		found.check(c.intent.Tools[i].Path.Child("mcpEndpoint"), c.intent.Tools[i].MCPEndpoint, false)
	}
	if storage := c.Spec.Storage; storage != nil && storage.KV != nil {
		found.check(spec("storage", "kv", "endpoint"), storage.KV.Endpoint, false)
	}
	return found.warnings
}

const inference = "inference"

// alone reports whether the server is the only program that clients in its pod reach through localhost.
func (c *checks) alone() bool {
	pod := &c.podPatch().Spec
	server := names.ServerContainer(c.Annotations)
	return !pod.HostNetwork &&
		!slices.ContainsFunc(pod.Containers, func(container corev1.Container) bool { return container.Name != server }) &&
		!slices.ContainsFunc(pod.InitContainers, func(container corev1.Container) bool {
			return ptr.Deref(container.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
		})
}

type endpointFindings struct {
	alone bool
	// own is the server's port.
	own      string
	warnings []string
}

// settings checks the texts of a provider's settings that are URLs, or hosts by the name of their key.
func (f *endpointFindings) settings(path *field.Path, settings map[string]any, operations bool) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		text, _ := settings[key].(string)
		if strings.Contains(text, "://") || key == "host" || strings.HasSuffix(key, "_host") {
			f.check(path.Child(key), text, operations)
		}
	}
}

// check checks an endpoint, which is a URL, a host, or host:port. The parameter operations reports whether the server
// adds the path of an operation.
func (f *endpointFindings) check(path *field.Path, text string, operations bool) {
	for _, mistake := range provider.EndpointMistakes(text, operations, f.alone, f.own) {
		f.warnings = append(f.warnings, path.String()+": "+mistake)
	}
}
