package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The real kubectl builds an overlay with a prefix, a patch and a generated ConfigMap.
func TestKustomizeByKubectl(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(testutil.Kubectl()))
	folder := t.TempDir()
	for name, content := range map[string]string{
		"base/stack.yaml":         stack(simple),
		"base/kustomization.yaml": "resources: [stack.yaml]\n",
		"overlay/kustomization.yaml": `resources: [../base]
namePrefix: prod-
configMapGenerator:
- {name: mine, literals: ["config.yaml={distro_name: a, providers: {}}"]}
patches:
- target: {kind: LlamaStackDistribution}
  patch: '[{"op": "add", "path": "/spec/workload", "value": {"replicaz": 2}}]'
`,
		"none/values.yaml": "a: b\n",
	} {
		path := filepath.Join(folder, name)
		testutil.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testutil.Must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	good := run(t, "", "validate", "-k", filepath.Join(folder, "base"))
	good.exits(t, 0)
	overlay := filepath.Join(folder, "overlay")
	bad := run(t, "", "validate", "-k", overlay)
	bad.exits(t, 1)
	contains(t, bad.err, "error: kustomize "+overlay+`: prod-demo: spec.workload.replicaz: unknown field; did you mean "replicas"?`)
	none := run(t, "", "validate", "-k", filepath.Join(folder, "none"))
	none.exits(t, 1, "a folder without a kustomization")
	contains(t, none.err, "error: kustomize "+filepath.Join(folder, "none")+": unable to find one of 'kustomization.yaml'")
}
