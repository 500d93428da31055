package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

const withExternal = `
externalProviders:
  safety: [{providerId: guard, image: "r/guard:1"}]
  inference:
  - {providerId: mine, image: "r/mine:1", imagePullPolicy: Always, config: {a: 1},
     secretRefs: {key: {secretKeyRef: {name: s, key: k}}}}
`

const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// labeled returns a stack for which the image of one external provider was read.
func labeled(t *testing.T, spec string) plan.Input {
	t.Helper()
	in := input(t, spec)
	in.Packages = map[string]*externalprovider.Package{"mine": {
		API: "inference", Type: "remote::mine",
		Module: "my.module",
	}}
	in.PackageDigests = map[string]string{"mine": digest}
	return in
}

var wantExternal = []render.ExternalProvider{
	{
		API: "inference", ID: "mine", Path: "spec.externalProviders.inference[0]", Image: "r/mine:1@" + digest,
		PullPolicy: "Always",
		Type:       "remote::mine", Module: "my.module",
	},
	{API: "safety", ID: "guard", Path: "spec.externalProviders.safety[0]", Image: "r/guard:1"},
}

// variables returns the names of the variables that a plan reads from Secrets.
func variables(p *plan.Plan) []string {
	var found []string
	for _, variable := range p.Env {
		found = append(found, variable.Name)
	}
	return found
}

func TestExternalProviders(t *testing.T) {
	built := build(t, labeled(t, withExternal))
	if diff := cmp.Diff(wantExternal, built.External()); diff != "" {
		t.Errorf("external providers (-want +got):\n%s", diff)
	}
	inputs := []string{"r/mine:1@" + digest + " Always inference mine remote::mine my.module", "r/guard:1  safety guard  "}
	if diff := cmp.Diff(inputs, built.Rendered.Inputs.External); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if got := variables(built); !slices.Equal(got, []string{"LLSD_MINE_KEY"}) {
		t.Errorf("variables %v", got)
	}
	for _, part := range []string{
		"  - provider_id: mine\n    provider_type: remote::mine\n    module: my.module\n    config:\n      a: 1\n      key: ${env.LLSD_MINE_KEY}\n",
		"  - provider_id: guard\n    provider_type: external::unknown\n",
	} {
		if !strings.Contains(string(built.Config), part) {
			t.Errorf("the configuration does not contain\n%s", part)
		}
	}
}

// An image with a digest is unchanged, and the plan of a stack without external providers contains no external
// providers.
func TestExternalImages(t *testing.T) {
	in := labeled(t, strings.Replace(withExternal, "r/mine:1", "r/mine@"+digest, 1))
	if got := build(t, in).External()[0].Image; got != "r/mine@"+digest {
		t.Errorf("image %s", got)
	}
	if built := build(t, input(t, "disabled: [eval]\n")); built.External() != nil ||
		built.Rendered.Inputs.External != nil {
		t.Errorf("external %v, inputs %v", built.External(), built.Rendered.Inputs.External)
	}
}

// If a change to an external provider affects the pods, the change replaces the pods.
func TestExternalInputs(t *testing.T) {
	start := build(t, labeled(t, withExternal)).Rendered.Record.Inputs
	for _, edit := range [][2]string{
		{"r/guard:1", "r/guard:2"},
		{"providerId: guard", "providerId: other"},
		{"Always", "Never"},
		{"a: 1", "a: 2"},
		{"name: s", "name: t"},
	} {
		if got := build(t, labeled(t, strings.Replace(withExternal, edit[0], edit[1],
			1))).Rendered.Record.Inputs; got == start {
			t.Errorf("%s instead of %s does not change the inputs", edit[1], edit[0])
		}
	}
	for name, edit := range map[string]func(*plan.Input){
		"module": func(in *plan.Input) { in.Packages["mine"].Module = "other" },
		"digest": func(in *plan.Input) { in.PackageDigests["mine"] = strings.Replace(digest, "e3", "e4", 1) },
		"label": func(in *plan.Input) {
			delete(in.Packages, "mine")
			delete(in.PackageDigests, "mine")
		},
	} {
		in := labeled(t, withExternal)
		edit(&in)
		if got := build(t, in).Rendered.Record.Inputs; got == start {
			t.Errorf("a change to the %s does not change the inputs", name)
		}
	}
	in := labeled(t, withExternal)
	in.Packages["mine"].Vendor, in.Packages["mine"].Version = "other", "2"
	if got := build(t, in).Rendered.Record.Inputs; got != start {
		t.Error("a part that affects no pod changes the inputs")
	}
}

// The external providers are added to a copy of a user's own configuration, together with other additions.
func TestExternalProvidersInAnOverride(t *testing.T) {
	const override = "overrideConfig: {configMapName: mine}\n"
	built := build(t, labeled(t, override+withExternal+"workload: {workers: 2}\n"))
	if diff := cmp.Diff(wantExternal, built.External()); diff != "" {
		t.Errorf("external providers (-want +got):\n%s", diff)
	}
	const want = `version: 2
distro_name: mine
providers:
  inference:
  - provider_id: mine
    provider_type: remote::mine
    module: my.module
    config:
      a: 1
      key: ${env.LLSD_MINE_KEY}
  safety:
  - provider_id: guard
    provider_type: external::unknown
server: {port: 9000, workers: 2}
`
	if diff := cmp.Diff(want, string(built.Config)); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	if got := variables(built); !slices.Equal(got, []string{"LLSD_MINE_KEY"}) || built.ConfigMapName == "mine" {
		t.Errorf("variables %v, ConfigMap %s", got, built.ConfigMapName)
	}

	for data, want := range map[string]string{
		"[":                          `spec.overrideConfig: ConfigMap "mine", key "server.yaml": is not YAML: yaml: line 1: did not find expected node content`,
		"providers: {inference: {}}": `spec.overrideConfig: ConfigMap "mine", key "server.yaml": base config: line 1: providers.inference must be a list, got a mapping`,
	} {
		in := labeled(t, override+withExternal)
		in.Override.Data = []byte(data)
		if _, err := plan.Build(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// For a v1alpha1 stack with external providers, the pods mount a copy of one key of the ConfigMap. A warning states how
// the copy differs from the ConfigMap, because without external providers the pods mount the whole ConfigMap.
func TestExternalProvidersOfAnOlderStack(t *testing.T) {
	const spec = "overrideConfig: {configMapName: mine}\n" + withExternal
	files := map[string][]byte{"run.yaml": []byte("distro_name: a\nproviders: {}\n"), "more.py": []byte("x")}
	for name, tc := range map[string]struct {
		spec  string
		files map[string][]byte
		want  []string
	}{
		"one file": {spec, map[string][]byte{"config.yaml": files["run.yaml"]}, nil},
		"more files": {spec, files, []string{
			`ConfigMap "mine" has no key "config.yaml", so the server reads the key "run.yaml": rename the key "run.yaml" to "config.yaml"`,
			`the operator adds the external providers to a copy of key "run.yaml" of ConfigMap "mine", and does not mount the other keys: ` +
				"if the server needs other keys, mount them with spec.workload.overrides.volumes and volumeMounts",
		}},
		"own command": {spec + "workload: {overrides: {command: [run]}}\n", map[string][]byte{"run.yaml": files["run.yaml"]}, []string{
			`only the file /etc/llama-stack/config.yaml, a copy of key "run.yaml" of ConfigMap "mine", contains the external providers: ` +
				"change your command so that it reads this file",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := marked(t, tc.spec, tc.files)
			in.Override.Key = intent.OverrideKey(in.Object, tc.files)
			built := build(t, in)
			var told []string
			for _, warning := range built.Warnings {
				told = append(told, warning.Message)
			}
			if diff := cmp.Diff(tc.want, told); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if len(built.External()) != 2 || built.ConfigMapName != names.ConfigMap("demo", built.ConfigHash) {
				t.Errorf("external %v, ConfigMap %s", built.External(), built.ConfigMapName)
			}
		})
	}
}
