package cli_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// The test compares the output and the messages for manifests of both versions with golden files.
func TestConvert(t *testing.T) {
	const cases = "testdata/convert"
	for _, name := range golden.Cases(t, cases) {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(cases, name)
			got := run(t, string(golden.Read(t, filepath.Join(folder, "in.yaml"))), "convert", "-f", "-", "--to", target(name))
			got.mustExit(t, 0)
			golden.Dir(t, filepath.Join(folder, "want"), map[string][]byte{
				"out.yaml":     []byte(got.out),
				"messages.txt": []byte(got.err),
			})
			again := run(t, got.out, "convert", "-f", "-", "--to", target(name))
			if diff := cmp.Diff(got.out, again.out); diff != "" {
				t.Errorf("a second conversion changes the output (-once +twice):\n%s", diff)
			}
		})
	}
}

// The output shows characters that change the direction of the text, and keeps the values that contain them.
func TestDirectionOfText(t *testing.T) {
	const stack = `{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: my-stack},
spec: {distribution: {name: starter}, workload: {overrides: {env: [{name: A, value: "a\u202eb"}]}}}}`
	for _, command := range [][]string{{"convert"}, {"render", "-o", "objects"}, {"render", "-o", "env"}} {
		got := run(t, stack, append(command, "-f", "-")...)
		if got.code != 0 || strings.Contains(got.out, "\u202e") {
			t.Errorf("%v: exit code %d, output:\n%s%s", command, got.code, got.out, got.err)
		}
		contains(t, got.out, `value: "a\u202eb"`)
	}
}

// The test compares the output and the messages of convert --absorb-config with golden files.
func TestAbsorbConfig(t *testing.T) {
	const cases = "testdata/absorb"
	for _, name := range golden.Cases(t, cases) {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(cases, name)
			before := string(golden.Read(t, filepath.Join(folder, "in.yaml")))
			got := run(t, before, "convert", "-f", "-", "--absorb-config")
			got.mustExit(t, 0)
			configMap, stacks, found := strings.Cut(got.out, "---\n")
			if !found || !strings.HasPrefix(before, configMap) {
				t.Errorf("the ConfigMap in the output differs:\n%s", configMap)
			}
			golden.Dir(t, filepath.Join(folder, "want"), map[string][]byte{
				"out.yaml":     []byte(stacks),
				"messages.txt": []byte(got.err),
			})
			run(t, got.out, "validate", "-f", "-").exits(t, 0)
			again := run(t, got.out, "convert", "-f", "-", "--absorb-config")
			if diff := cmp.Diff(got.out, again.out); diff != "" {
				t.Errorf("a second conversion changes the output (-once +twice):\n%s", diff)
			}
		})
	}
}

// The configurations in the fixtures cannot be replaced by fields. The command reports a reason for each. Except for
// comments, the output is the same as without --absorb-config.
func TestAbsorbConfigOfFixtures(t *testing.T) {
	kept := 0
	for _, file := range fixtures(t) {
		plain, got := run(t, "", "convert", "-f", file), run(t, "", "convert", "-f", file, "--absorb-config")
		got.exits(t, 0, file)
		if strings.Contains(plain.out, "\n  overrideConfig:") {
			kept++
			contains(t, got.err, "spec.server.userConfig cannot be replaced: ")
		}
		if diff := cmp.Diff(uncommented(plain.out), uncommented(got.out)); diff != "" {
			t.Errorf("%s: output (-without --absorb-config +with):\n%s", file, diff)
		}
	}
	if kept < 3 {
		t.Errorf("only %d of the fixtures have a userConfig", kept)
	}
}

// uncommented returns a manifest without comment lines.
func uncommented(manifest string) string {
	return regexp.MustCompile(`(?m)^ *#.*\n`).ReplaceAllString(manifest, "")
}

func TestAbsorbConfigRefusals(t *testing.T) {
	const override = `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`
	for name, tc := range map[string]struct {
		in   string
		args []string
		code int
		want string
	}{
		"missing ConfigMap": {
			stack(override), nil, 1,
			`spec.overrideConfig.configMapName: the files do not contain ConfigMap "mine" in namespace "default"; add the ConfigMap with another --filename`,
		},
		"missing ConfigMap of userConfig": {
			older(`{server: {distribution: {name: starter}, userConfig: {configMapName: mine}}}`), nil, 1,
			`spec.server.userConfig.configMapName: the files do not contain ConfigMap "mine" in namespace "default"`,
		},
		"namespace in a flag": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {config.yaml: a}\n---\n" + stack(override),
			[]string{"-n", "team"},
			0,
			"spec.overrideConfig cannot be replaced: spec.overrideConfig: ConfigMap \"mine\", key \"config.yaml\": must be a mapping, got a scalar",
		},
		"an unknown distribution": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {config.yaml: 'a: 1'}\n---\n" + strings.Replace(stack(override), "starter", "rh-dev", 1), nil, 0,
			`spec.overrideConfig cannot be replaced: spec.distribution.name: unknown distribution "rh-dev"`,
		},
		"another version":   {stack(override), []string{"--to", "v1alpha1"}, 2, "--absorb-config: the fields that replace overrideConfig exist only in v1alpha2; remove --to v1alpha1"},
		"no overrideConfig": {stack(simple), nil, 0, "the stack has no overrideConfig, so --absorb-config has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.in, append([]string{"convert", "--absorb-config", "-f", "-"}, tc.args...)...)
			if got.code != tc.code || (got.out == "") != (tc.code != 0) {
				t.Errorf("exit code %d, want %d; standard output %q", got.code, tc.code, got.out)
			}
			contains(t, got.err, tc.want)
		})
	}
}

func target(name string) string {
	if strings.HasPrefix(name, "back") {
		return "v1alpha1"
	}
	return "v1alpha2"
}

// fixtures returns the paths of manifests for the previous operator.
func fixtures(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../test/contract/testdata/cases/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("only %d manifests, error %v", len(files), err)
	}
	return files
}

// Applying a manifest that was converted to the other version and back creates the same objects as applying the
// original.
func TestConvertKeepsThePlan(t *testing.T) {
	const config = "../../test/contract/testdata/operator-cases.yaml"
	planned := func(manifest string) string {
		t.Helper()
		got := run(t, manifest, "render", "-f", "-", "-o", "all", "--operator-config", config)
		got.mustExit(t, 0)
		return got.out
	}
	files, err := filepath.Glob(samples + "/v1alpha2-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range append(fixtures(t), files...) {
		first, second := "v1alpha2", "v1alpha1"
		if strings.Contains(file, samples) {
			first, second = second, first
		}
		there := run(t, "", "convert", "-f", file, "--to", first)
		back := run(t, there.out, "convert", "-f", "-", "--to", second)
		want := planned(string(golden.Read(t, file)))
		for which, manifest := range map[string]string{"there": there.out, "back": back.out} {
			if diff := cmp.Diff(want, planned(manifest)); diff != "" {
				t.Errorf("%s, %s: the applied objects (-before +after):\n%s", file, which, diff)
			}
		}
	}
}

func TestConvertRefusals(t *testing.T) {
	const good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
	for name, tc := range map[string]struct {
		in   string
		args []string
		code int
		want string
	}{
		"value of a wrong type": {
			good + older(`{server: {distribution: {name: starter}, containerSpec: {env: [{name: A, value: 1}]}}}`), nil, 1,
			"error: standard input: document 2: demo: spec.server.containerSpec.env[0].value: must be text, got a number; quote it\nnothing was converted\n",
		},
		"unknown field of v1alpha2": {
			stack(`{distribution: {name: starter}, networkin: {}}`),
			[]string{"--to", "v1alpha1"},
			1,
			`error: standard input: document 1: demo: spec.networkin: unknown field; did you mean "networking"?`,
		},
		"no distribution":                   {older(`{server: {}}`), nil, 1, "error: standard input: document 1: demo: spec.server.distribution: required"},
		"no name":                           {strings.Replace(older(simple), "{name: demo}", "{}", 1), nil, 1, "metadata.name: required: set the name of the stack"},
		"invalid YAML":                      {good + "\ta: b\n", nil, 1, "error: standard input: document 2: is not valid YAML: line 5 is indented with a tab"},
		"key that is set twice":             {older("{server: {distribution: {name: a}}}") + "spec: {}\n", nil, 1, `key "spec" already set in map; remove one of the two keys`},
		"not an object":                     {good + "- a\n", nil, 1, "error: standard input: document 2: is not a Kubernetes object"},
		"a misspelled kind":                 {strings.Replace(older(simple), "Distribution", "Distributon", 1), nil, 1, `kind: "LlamaStackDistributon" is not a kind that this operator manages`},
		"the API group of another operator": {strings.Replace(older(simple), "llamastack.io/v1alpha1", "llama.meta.com/v1", 1), nil, 1, "is not in the API group of this operator"},
		"an item of a list":                 {"apiVersion: v1\nkind: List\nitems: [{apiVersion: llamastack.io/v1alpha1, kind: LlamaStackDistribution, metadata: {name: x}}]\n", nil, 1, "error: standard input: document 1, items[0]: x: spec.server.distribution"},
		"no stack":                          {good, nil, 1, "error: no LlamaStackDistribution or OGXServer in standard input; this command does not convert the kinds that it found: ConfigMap\nnothing was converted\n"},
		"an unknown version":                {older(simple), []string{"--to", "v1"}, 2, `--to: "v1" is not a valid value; use one of v1alpha1, v1alpha2`},
		"no file":                           {"", []string{"-f", "testdata/none.yaml"}, 2, "testdata/none.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.in, append([]string{"convert", "-f", "-"}, tc.args...)...)
			got.refuses(t, tc.code, tc.want)
		})
	}
}

// Every annotation that the conversion adds has a comment that explains it.
func TestConvertExplainsAnnotations(t *testing.T) {
	out := run(t, string(golden.Read(t, "testdata/convert/attributes/in.yaml")), "convert", "-f", "-").out
	uncommented := regexp.MustCompile(`(?m)^    [^#\n].*\n    llamastack\.io/[a-z-]+:`)
	if found := uncommented.FindString(out); found != "" {
		t.Errorf("no comment above the annotation in %q\n%s", found, out)
	}
}
