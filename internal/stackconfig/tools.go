package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

const apiToolRuntime = "tool_runtime"

// tool declares one tool group (FR-043) in the way of the release: a built-in
// one, an MCP server, or a group of a provider.
func (r *registry) tool(t *intent.Tool) {
	if item := r.off.apis[apiToolRuntime]; item != nil {
		r.ignored(t.Path, "the API toolRuntime is disabled by %s, so this is left out", item.Path)
		return
	}
	if r.firstProvider(apiToolRuntime) == nil && r.hasDependent(apiToolRuntime) {
		r.ignored(t.Path, "no provider of the API toolRuntime is left, so this is left out")
		return
	}
	if r.firstProvider(apiToolRuntime) == nil {
		r.notFound(field.NewPath("spec", "resources", "tools"), "",
			"resources.tools requires at least one toolRuntime provider to be configured")
		return
	}
	builtIn, known := r.rel.Tools.BuiltInTool(t.Name)
	switch {
	case known && t.MCPEndpoint != "":
		r.failf(t.Path.Child("mcpEndpoint"), "%q is a tool of the server itself and has no MCP endpoint; give the MCP server another name", t.Name)
	case known:
		r.builtInTool(t, builtIn)
	case t.MCPEndpoint != "":
		r.mcpServer(t)
	default:
		r.toolGroup(t, t.Name, t.Provider)
	}
}

// builtInTool is websearch or rag. A release that registers its groups itself
// needs no entry, only a provider that serves it.
func (r *registry) builtInTool(t *intent.Tool, builtIn release.BuiltInTool) {
	e := r.toolProvider(t, builtIn.Name, builtIn.Providers)
	if e == nil {
		return
	}
	if !builtIn.Automatic {
		if own := r.baseChoice(builtIn); own != nil && t.Provider == "" && e.user == nil {
			e = own
		}
		r.toolGroup(t, builtIn.Group, e.id)
		return
	}
	if t.Provider != "" {
		r.ignored(t.Path.Child("provider"), "the server release %s chooses the provider of %s itself", r.rel.Line, t.Name)
	}
	if len(t.Args) > 0 {
		r.ignored(t.Path.Child("args"), "the server release %s takes no arguments for %s", r.rel.Line, t.Name)
	}
}

// baseChoice is the provider under which the base registers a built-in tool's
// group; nil when it does not, or when that provider cannot serve it.
func (r *registry) baseChoice(builtIn release.BuiltInTool) *entry {
	known, _ := r.rel.Resource(kindToolGroups)
	for _, item := range yamlnode.Items(r.existing(known)) {
		group, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		id, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		e := r.index.find(apiToolRuntime, id)
		if group == builtIn.Group && e != nil && e.enabled && slices.Contains(builtIn.Providers, e.providerType) && !r.off.has(e.api, e.id) {
			return e
		}
	}
	return nil
}

// toolProvider is the provider for a tool that only some types can serve; nil
// after an error.
func (r *registry) toolProvider(t *intent.Tool, what string, types []string) *entry {
	path := providerPath(t.Path, t.Provider)
	if t.Provider != "" {
		e, ok := r.choose(apiToolRuntime, t.Provider, path)
		if ok && !slices.Contains(types, e.providerType) {
			r.failf(path, "%q is of type %s, and %s needs %s", t.Provider, e.providerType, what, strings.Join(types, " or "))
			return nil
		}
		return e
	}
	for _, own := range []bool{true, false} {
		for _, e := range r.index.of(apiToolRuntime) {
			if (e.user != nil) == own && e.enabled && slices.Contains(types, e.providerType) && !r.off.has(e.api, e.id) {
				return e
			}
		}
	}
	if r.hasDependent(apiToolRuntime, types...) {
		r.ignored(path, "no provider of the API toolRuntime is left that serves %s, so this is left out", what)
		return nil
	}
	r.notFound(path, "", fmt.Sprintf("%s needs a toolRuntime provider of type %s; add one to spec.providers.toolRuntime",
		what, strings.Join(types, " or ")))
	return nil
}

// mcpServer declares an MCP server. A provider beside its endpoint is the one that calls it, so it must be one for MCP;
// a release that has no tool groups in its configuration picks one by itself.
func (r *registry) mcpServer(t *intent.Tool) {
	served := t.Provider
	if r.rel.Tools.MCPProvider != "" {
		e := r.toolProvider(t, "an MCP server", []string{r.rel.Tools.MCPProvider})
		if e == nil {
			return
		}
		served = e.id
	}
	if r.rel.Tools.MCP == kindToolGroups {
		r.toolGroup(t, t.Name, served)
		return
	}
	res, ok := r.newResource(r.rel.Tools.MCP, t.Name, t.Path)
	if !ok {
		return
	}
	r.mcpURL(res.entry, t)
	if t.Provider != "" {
		r.ignored(t.Path.Child("provider"), "the server release %s chooses the provider of an MCP server itself", r.rel.Line)
	}
	if len(t.Args) > 0 {
		r.ignored(t.Path.Child("args"), "the server release %s takes no arguments for an MCP server", r.rel.Line)
	}
	r.register(res)
}

// mcpURL writes the URL under its key, which may lie deeper (mcp_endpoint.uri).
func (r *registry) mcpURL(entry *yaml.Node, t *intent.Tool) {
	origin := from(t.Path.Child("mcpEndpoint"))
	keys := strings.Split(r.rel.Tools.MCPURLKey, ".")
	for _, key := range keys[:len(keys)-1] {
		entry = r.section(entry, key, origin)
	}
	r.write(under(entry, keys[len(keys)-1]), yamlnode.String(t.MCPEndpoint), origin)
}

// toolGroup registers a group under a provider, where the release still has
// groups in its configuration.
func (r *registry) toolGroup(t *intent.Tool, group, provider string) {
	known, ok := r.rel.Resource(kindToolGroups)
	if !ok || known.Dropped {
		r.failf(t.Path, "%q is neither a tool of the server release %s (%s) nor an MCP server; give it mcpEndpoint if it is one",
			t.Name, r.rel.Line, strings.Join(r.builtInNames(), ", "))
		return
	}
	res, _ := r.newResource(kindToolGroups, group, t.Path)
	if !r.provider(res, provider, providerPath(t.Path, t.Provider)) {
		return
	}
	if t.MCPEndpoint != "" {
		r.mcpURL(res.entry, t)
	}
	if len(t.Args) > 0 {
		r.write(under(res.entry, "args"), yamlnode.FromJSON(t.Args), from(t.Path.Child("args")))
	}
	r.register(res)
}

func (r *registry) builtInNames() []string {
	names := make([]string, 0, len(r.rel.Tools.BuiltIn))
	for _, b := range r.rel.Tools.BuiltIn {
		names = append(names, b.Name)
	}
	return names
}
