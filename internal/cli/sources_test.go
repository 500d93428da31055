package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// operatorConfig writes the operator's ConfigMap and another ConfigMap to a file.
func operatorConfig(t *testing.T, data string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "operator.yaml")
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {image-overrides: 'starter: wrong:1'}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: llama-stack-operator-config, namespace: anywhere}\ndata:\n" + data
	testutil.Must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

const overrides = `  image-overrides: |
    starter: mirror.example.com/starter:0.7.1
    starter@0.8: mirror.example.com/starter:0.8.0
    team: mirror.example.com/team:0.7.3
`

// The commands use the images that an operator with the ConfigMap would run.
func TestOperatorConfigGivesTheImages(t *testing.T) {
	file := operatorConfig(t, overrides)
	const vllm = `providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}`
	for name, tc := range map[string]struct{ spec, image, note string }{
		"name": {
			"{distribution: {name: starter}, " + vllm + "}", "mirror.example.com/starter:0.7.1",
			`note: standard input: demo: this command does not read the labels of image "mirror.example.com/starter:0.7.1"`,
		},
		"name and version": {
			`{distribution: {name: starter, version: "0.8"}, ` + vllm + "}", "mirror.example.com/starter:0.8.0",
			`this command does not read the labels of image "mirror.example.com/starter:0.8.0"`,
		},
		"name without a generated configuration": {"{distribution: {name: starter}}", "mirror.example.com/starter:0.7.1", ""},
		"name that only the ConfigMap contains":  {"{distribution: {name: team}}", "mirror.example.com/team:0.7.3", ""},
		"image in the spec":                      {`{distribution: {image: "example.com/own:1"}}`, "example.com/own:1", ""},
		"added name with overrideConfig":         {"{distribution: {name: team}, overrideConfig: {configMapName: mine}}", "mirror.example.com/team:0.7.3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			mine := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {config.yaml: '{distro_name: a, providers: {}}'}\n"
			got := run(t, stack(tc.spec)+mine, "render", "-f", "-", "-o", "objects", "--operator-config", file)
			got.mustExit(t, 0)
			contains(t, got.out, "image: "+tc.image+"\n")
			if strings.Contains(got.err, "does not read the labels") != (tc.note != "") {
				t.Errorf("messages:\n%s", got.err)
			}
			contains(t, got.err, tc.note)
		})
	}
	checked := run(t, stack("{distribution: {name: team}, "+vllm+"}"), "render", "-f", "-", "--operator-config", file)
	checked.exits(t, 1)
	contains(t, checked.err, `spec.distribution.name: "mirror.example.com/team:0.7.3": this command does not read the base configuration of an image`)
	upgraded := run(t, stack("{distribution: {name: starter}, "+vllm+"}"), "upgrade-check", "-f", "-", "--to", "0.8",
		"--operator-config", file)
	contains(t, upgraded.out, "~ image: mirror.example.com/starter:0.7.1 -> mirror.example.com/starter:0.8.0\n")
}

// TestBounds checks that the commands apply the bounds of the namespace.
func TestBounds(t *testing.T) {
	file := operatorConfig(t, "  bounds: '[{namespaces: [team-a], images: [quay.io/team], podTemplate: false}]'\n")
	bounded := strings.Replace(stack("{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {priorityClassName: high}}}}}"), "metadata: {", "metadata: {namespace: team-a, ", 1)
	got := run(t, bounded, "validate", "-f", "-", "--operator-config", file)
	got.exits(t, 1)
	contains(t, got.err, `spec.distribution: the image "`, `use an image from quay.io/team`, "spec.workload.overrides.podTemplate: is not allowed in this namespace")
	if got := run(t, strings.Replace(bounded, "team-a", "team-b", 1), "validate", "-f", "-", "--operator-config",
		file); got.code != 0 {
		t.Errorf("another namespace: exit code %d\n%s", got.code, got.err)
	}
}

// TestBoundsByLabel checks that the commands read the labels of a namespace from its manifest, and that they warn if
// they need the labels and do not know them.
func TestBoundsByLabel(t *testing.T) {
	file := operatorConfig(t, "  bounds: '[{namespaceLabels: {tier: trial}, images: [quay.io/team]}]'\n")
	plain := stack("{distribution: {name: starter}}")
	bounded := strings.Replace(plain, "metadata: {", "metadata: {namespace: team-a, ", 1)
	namespace := func(tier string) string {
		return bounded + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {tier: " + tier + "}}\n"
	}
	for name, tc := range map[string]struct {
		manifests string
		code      int
		want      string
	}{
		"the labels":   {namespace("trial"), 1, "use an image from quay.io/team"},
		"other labels": {namespace("full"), 0, ""},
		"no namespace": {bounded, 0, "so this command checks the stack as if the namespace had no labels; add a manifest of the namespace to the files"},
	} {
		got := run(t, tc.manifests, "validate", "-f", "-", "--operator-config", file)
		got.exits(t, tc.code, name)
		contains(t, got.err, tc.want)
		if warned := strings.Contains(got.err, "are not known"); warned != (name == "no namespace") {
			t.Errorf("%s: %s", name, got.err)
		}
	}
}

func TestOperatorConfigRefuses(t *testing.T) {
	valid := stack("{distribution: {name: starter}}")
	bad := operatorConfig(t, "  image-overrides: |\n    starter: 'no image'\n    starter@9.9: a:1\n  registries: 'readLabels: perhaps'\n")
	got := run(t, valid, "render", "-f", "-", "--operator-config", bad)
	if got.code != 1 || got.out != "" {
		t.Errorf("exit code %d, want 1 and no output:\n%s", got.code, got.out)
	}
	contains(t, got.err, bad+`: llama-stack-operator-config: image-overrides[starter]: `, `image-overrides[starter@9.9]: version "9.9"`,
		"registries.readLabels: line 1: must be true or false", "correct these keys; a running operator keeps their previous values, which are not available to this command")

	unread := operatorConfig(t, "  image-override: 'starter: a:1'\n")
	got = run(t, valid, "validate", "-f", "-", "--operator-config", unread)
	got.exits(t, 0)
	contains(t, got.err, `warning: `+unread+`: llama-stack-operator-config: image-override: unknown key; did you mean "image-overrides"?; the key has no effect`)

	empty, twice := filepath.Join(t.TempDir(), "empty.yaml"), operatorConfig(t, overrides)
	data := golden.Read(t, twice)
	for file, content := range map[string]string{
		empty: "kind: ConfigMap\n",
		twice: string(data) + "---\n" + string(data),
	} {
		testutil.Must(t, os.WriteFile(file, []byte(content), 0o600))
	}
	for file, want := range map[string]string{
		empty: empty + ` does not contain ConfigMap "llama-stack-operator-config"` +
			`; set --operator-config to a file with this ConfigMap`,
		twice: twice + ` contains two ConfigMaps named "llama-stack-operator-config"` +
			`; remove one of the ConfigMaps`,
		"nowhere.yaml": "nowhere.yaml",
	} {
		got := run(t, valid, "render", "-f", "-", "--operator-config", file)
		got.refuses(t, 2, "--operator-config: ", want)
	}
}
