package plan_test

import (
	"strings"
	"testing"
)

// TestSurroundings checks the warnings about pods that do not work with their file systems, proxy or service mesh, and
// that the remedies in the warnings have no warning.
func TestSurroundings(t *testing.T) {
	const (
		inside   = "providers: {inference: {provider: vllm, endpoint: \"http://vllm.models.svc:8000\"}}\n"
		proxy    = "{name: http_proxy, value: \"http://proxy:3128\"}"
		readOnly = "podTemplate: {spec: {containers: [{name: llama-stack, securityContext: {readOnlyRootFilesystem: true}}]}}"
		postgres = "storage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}\n"
		short    = "providers: {inference: {provider: vllm, endpoint: \"http://vllm:8000\"}}\n"
		outside  = "providers: {inference: {provider: vllm, endpoint: \"http://vllm.example.com:8000\"}}\n"
		mesh     = "overrides: {command: [sh], podLabels: {sidecar.istio.io/inject: \"true\"}}"
	)
	for name, tc := range map[string]struct{ spec, want string }{
		"read-only":                {workloadOf("overrides: {" + readOnly + "}"), "readOnlyRootFilesystem"},
		"read-only with storage":   {workloadOf("storage: {}, overrides: {" + readOnly + "}"), ""},
		"read-only with HOME":      {workloadOf("overrides: {env: [{name: HOME, value: /.llama}], " + readOnly + "}"), ""},
		"proxy":                    {inside + workloadOf("overrides: {env: ["+proxy+"]}"), "through the proxy"},
		"proxy for a short name":   {short + proxied(proxy+", {name: NO_PROXY, value: .svc}"), "through the proxy"},
		"proxy of another host":    {outside + proxied(proxy), ""},
		"proxy for https only":     {inside + workloadOf("overrides: {env: [{name: HTTPS_PROXY, value: \"http://proxy:3128\"}]}"), ""},
		"NO_PROXY":                 {inside + workloadOf("overrides: {env: ["+proxy+", {name: NO_PROXY, value: \"localhost,.svc\"}]}"), ""},
		"NO_PROXY with a wildcard": {inside + proxied(proxy+", {name: no_proxy, value: \"*\"}"), ""},
		"workers on NFS":           {workloadOf("workers: 2, storage: {accessModes: [ReadWriteMany]}"), "locks of SQLite"},
		"workers on a disk":        {workloadOf("workers: 2, storage: {}"), ""},
		"one worker on NFS":        {workloadOf("storage: {accessModes: [ReadWriteMany]}"), ""},
		"mesh":                     {postgres + workloadOf(mesh), "service mesh"},
		"mesh and SQLite":          {workloadOf(mesh), ""},
		"no mesh":                  {postgres + workloadOf("overrides: {command: [sh]}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var found []string
			for _, warning := range build(t, input(t, tc.spec)).Warnings {
				for _, part := range []string{"readOnlyRootFilesystem", "through the proxy", "locks of SQLite", "service mesh"} {
					if strings.Contains(warning.Message, part) {
						found = append(found, part)
					}
				}
			}
			if got := strings.Join(found, ", "); got != tc.want {
				t.Errorf("warnings about %q, want %q", got, tc.want)
			}
		})
	}
}

func workloadOf(fields string) string { return "workload: {" + fields + "}\n" }

func proxied(env string) string { return workloadOf("overrides: {env: [" + env + "]}") }
