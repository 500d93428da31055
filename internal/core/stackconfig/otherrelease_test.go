package stackconfig_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

const postgres = "storage: {kv: {type: redis, endpoint: cache, password: {secretKeyRef: {name: r, key: p}}}, " +
	"sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}"

func backend(r *release.Release, name string) *release.Backend {
	backends := make([]release.Backend, len(r.Storage.Backends))
	copy(backends, r.Storage.Backends)
	r.Storage.Backends = backends
	for i := range backends {
		if backends[i].Type == name {
			return &backends[i]
		}
	}
	panic("no backend " + name)
}

// otherReleaseCases are the cases of TestOtherReleases.
var otherReleaseCases = map[string]struct {
	change func(*release.Release)
	spec   string
	want   []string
}{
	"no host is needed": {
		func(r *release.Release) { r.Runtime.Host = "" }, "networking: {port: 9000}",
		[]string{"server:\n  port: 9000\nvector_stores"},
	},
	"no workers": {
		func(r *release.Release) { r.Server = schema.NewClass("ServerConfig", schema.ExtraIgnore, nil) },
		"workload: {workers: 2}",
		[]string{"spec.workload.workers: server release 0.7 runs only one process; remove the field workers"},
	},
	"a connection string is split even if the release accepts it whole": {
		func(r *release.Release) { backend(r, "sql_postgres").ConnectionStringKey = "connection_string" }, postgres,
		[]string{"      host: ${env.LLSD_STORAGE_SQL_HOST}\n"},
	},
	"a password with a separate key": {
		func(r *release.Release) {
			b := backend(r, "kv_redis")
			b.CredentialInHost, b.CredentialKey = false, "namespace"
		}, postgres,
		[]string{"      type: kv_redis\n      namespace: ${env.LLSD_STORAGE_KV_PASSWORD}\n      host: cache\n"},
	},
	"a password that is not encoded": {
		func(r *release.Release) { backend(r, "sql_postgres").EncodePassword = false }, postgres, []string{"sql-password=password "},
	},
	"a missing type of backend": {
		func(r *release.Release) { r.Storage.Backends = r.Storage.Backends[:1] }, "storage: {kv: {type: redis, endpoint: cache}}",
		[]string{`spec.storage.kv.type: server release 0.7 has no kv store of type "redis"; known types: mongodb`},
	},
	"another key for the name of the distribution": {
		func(r *release.Release) { r.Runtime.DistributionKey = "image_name" }, "networking: {port: 9000}",
		[]string{"version: 2\n"},
	},
	"the URL of an MCP server is in a nested key": {
		func(r *release.Release) { r.Tools.MCPURLKey = "endpoint.uri" }, "resources: {tools: [{name: t, mcpEndpoint: 'http://t'}]}",
		[]string{"spec.resources.tools[0]: the required key \"url\" is missing; its value must be text", "spec.resources.tools[0].mcpEndpoint: unknown key"},
	},
	"tool groups that the server drops": {
		func(r *release.Release) { r.Tools.MCP = "tool_groups" }, "resources: {tools: [{name: t, mcpEndpoint: 'http://t'}]}",
		[]string{`spec.resources.tools[0]: "t" is neither a tool of server release 0.7`},
	},
	"built-in tools that are registered": {
		func(r *release.Release) {
			r.Tools.BuiltIn = []release.BuiltInTool{{
				Name: "websearch", Group: "builtin::websearch",
				Providers: []string{"remote::tavily-search"},
			}}
		}, "resources: {tools: [websearch]}",
		[]string{`spec.resources.tools[0]: "websearch" is neither a tool of server release 0.7`},
	},
	"a kind of resource that does not exist": {
		func(r *release.Release) { r.Tools.MCP = "mcp_servers" }, "resources: {tools: [{name: t, mcpEndpoint: 'http://t'}]}",
		[]string{"spec.resources.tools[0]: server release 0.7 does not have the resource kind mcp_servers"},
	},
}

// The operator reads the differences between releases from data. Each row changes one fact in the data of the default
// release and shows the effect. Such a change needs no new code.
func TestOtherReleases(t *testing.T) {
	for name, tc := range otherReleaseCases {
		t.Run(name, func(t *testing.T) {
			changed := *release.Default()
			tc.change(&changed)
			result, report := stackconfig.Generate(stackconfig.Input{
				Intent: readIntent(t, []byte("metadata: {name: demo}\nspec:\n  "+tc.spec)), Base: parseBase(t, sharedBase(t)),
				Release: &changed,
			})
			var text strings.Builder
			text.WriteString(intent.Messages(report.Errors) + "\n")
			for _, warning := range report.Warnings {
				text.WriteString(warning.String() + "\n")
			}
			if result != nil {
				text.Write(result.Config)
				for _, d := range result.Derived {
					text.WriteString(d.Key + "=" + string(d.Part) + " ")
				}
			}
			for _, want := range tc.want {
				if !strings.Contains(text.String(), want) {
					t.Errorf("lacks %q:\n%s", want, text.String())
				}
			}
		})
	}
}
