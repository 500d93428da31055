package resources

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

const apiToolRuntime = "tool_runtime"

// tool declares one entry of spec.resources.tools (FR-043) in the form that the release requires. The entry is a
// built-in tool, an MCP server, or another tool group.
func (r *registrar) tool(t *intent.Tool) {
	if r.ignoredWithAPI(apiToolRuntime, t.Path) {
		return
	}
	if r.firstProvider(apiToolRuntime) == nil {
		if !r.ignoredWithProviders(apiToolRuntime, t.Path) {
			r.notFound(field.NewPath("spec", "resources", "tools"), "",
				"resources.tools requires a provider of the API toolRuntime; add a provider to spec.providers.toolRuntime")
		}
		return
	}
	builtIn, known := r.Release.Tools.BuiltInTool(t.Name)
	switch {
	case known && t.MCPEndpoint != "":
		r.Failf(t.Path.Child("mcpEndpoint"), "%q is a built-in tool of the server and has no MCP endpoint; remove mcpEndpoint, or give the MCP server another name", t.Name)
	case known:
		r.builtInTool(t, builtIn)
	case t.MCPEndpoint != "":
		r.mcpServer(t)
	default:
		r.toolGroup(t, t.Name, t.Provider)
	}
}

// builtInTool declares a built-in tool, such as websearch or rag. If the release automatically registers the tool's
// group, the configuration needs only a provider that serves the group (server fact 57).
func (r *registrar) builtInTool(t *intent.Tool, builtIn release.BuiltInTool) {
	e := r.toolProvider(t, builtIn.Name, builtIn.Providers)
	if e == nil {
		return
	}
	if !builtIn.Automatic {
		if own := r.baseChoice(builtIn); own != nil && t.Provider == "" && e.User == nil {
			e = own
		}
		r.toolGroup(t, builtIn.Group, e.ID)
		return
	}
	if t.Provider != "" {
		r.Ignoredf(t.Path.Child("provider"), "server release %s itself chooses the provider of %s; remove the field provider", r.Release.Line, t.Name)
	}
	if len(t.Args) > 0 {
		r.Ignoredf(t.Path.Child("args"), "server release %s does not accept arguments for %s; remove args", r.Release.Line, t.Name)
	}
}

// baseChoice returns the provider with which the base registers a built-in tool's group. It returns nil when the base
// does not register the group, or when that provider is disabled or cannot serve the group.
func (r *registrar) baseChoice(builtIn release.BuiltInTool) *draft.Provider {
	known, _ := r.Release.Resource(kindToolGroups)
	for _, item := range yamlnode.Items(r.ResourcesOf(known)) {
		group, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		id, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		e := r.Index.Find(apiToolRuntime, id)
		if group == builtIn.Group && e != nil && e.Enabled && slices.Contains(builtIn.Providers, e.ProviderType) &&
			!r.Disabled.Has(e.API, e.ID) {
			return e
		}
	}
	return nil
}

// toolProvider returns the provider for a tool that only providers of certain types can serve. It returns nil if it has
// reported an error or a warning.
func (r *registrar) toolProvider(t *intent.Tool, what string, types []string) *draft.Provider {
	path := providerPath(t.Path, t.Provider)
	if t.Provider != "" {
		e, ok := r.choose(apiToolRuntime, t.Provider, path)
		if ok && !slices.Contains(types, e.ProviderType) {
			r.Failf(path, "%q is of type %s, but %s requires a provider of type %s; name such a provider", t.Provider, e.ProviderType, what, strings.Join(types, " or "))
			return nil
		}
		return e
	}
	for _, own := range []bool{true, false} {
		for _, e := range r.Index.Of(apiToolRuntime) {
			if (e.User != nil) == own && e.Enabled && slices.Contains(types, e.ProviderType) && !r.Disabled.Has(e.API, e.ID) {
				return e
			}
		}
	}
	if r.HasDependent(apiToolRuntime, types...) {
		r.Ignoredf(path, "no remaining provider of the API toolRuntime serves %s, so this entry is ignored; add a provider, or remove the entry", what)
		return nil
	}
	r.notFound(path, "", fmt.Sprintf("%s requires a toolRuntime provider of type %s; add one to spec.providers.toolRuntime",
		what, strings.Join(types, " or ")))
	return nil
}

// mcpServer declares an MCP server. If the user also names a provider, that provider calls the MCP server, and must
// therefore support MCP. In a release that does not declare MCP servers as tool groups, the stack's server itself
// chooses the provider.
func (r *registrar) mcpServer(t *intent.Tool) {
	served := t.Provider
	if r.Release.Tools.MCPProvider != "" {
		e := r.toolProvider(t, "an MCP server", []string{r.Release.Tools.MCPProvider})
		if e == nil {
			return
		}
		served = e.ID
	}
	if r.Release.Tools.MCP == kindToolGroups {
		r.toolGroup(t, t.Name, served)
		return
	}
	res, ok := r.newResource(r.Release.Tools.MCP, t.Name, t.Path)
	if !ok {
		return
	}
	r.mcpURL(res.entry, t)
	if t.Provider != "" {
		r.Ignoredf(t.Path.Child("provider"), "server release %s itself chooses the provider of an MCP server; remove the field provider", r.Release.Line)
	}
	if len(t.Args) > 0 {
		r.Ignoredf(t.Path.Child("args"), "server release %s does not accept arguments for an MCP server; remove args", r.Release.Line)
	}
	r.register(res)
}

// mcpURL writes the URL under its key, which can be nested (mcp_endpoint.uri).
func (r *registrar) mcpURL(entry *yaml.Node, t *intent.Tool) {
	origin := draft.From(t.Path.Child("mcpEndpoint"))
	keys := strings.Split(r.Release.Tools.MCPURLKey, ".")
	for _, key := range keys[:len(keys)-1] {
		entry = r.Section(entry, key, origin)
	}
	r.Write(draft.Under(entry, keys[len(keys)-1]), yamlnode.String(t.MCPEndpoint), origin)
}

// toolGroup registers a group with a provider. It reports an error in a release whose configuration has no tool groups.
func (r *registrar) toolGroup(t *intent.Tool, group, provider string) {
	known, ok := r.Release.Resource(kindToolGroups)
	if !ok || known.Dropped {
		r.Failf(t.Path, "%q is neither a tool of server release %s (%s) nor an MCP server; use one of these tools, or set mcpEndpoint",
			t.Name, r.Release.Line, strings.Join(r.builtInNames(), ", "))
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
		r.Write(draft.Under(res.entry, "args"), yamlnode.FromJSON(t.Args), draft.From(t.Path.Child("args")))
	}
	r.register(res)
}

func (r *registrar) builtInNames() []string {
	names := make([]string, 0, len(r.Release.Tools.BuiltIn))
	for _, b := range r.Release.Tools.BuiltIn {
		names = append(names, b.Name)
	}
	return names
}
