package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const samples = "../../config/samples"

// result is the result of a command line.
type result struct {
	code     int
	out, err string
}

// exits checks the exit code. The parts of what name the case in the message.
func (r result) exits(t *testing.T, code int, what ...any) {
	t.Helper()
	if r.code != code {
		t.Errorf("%v: exit code %d, want %d\n%s%s", what, r.code, code, r.out, r.err)
	}
}

// refuses checks that a command prints only messages, and that they contain each of the texts.
func (r result) refuses(t *testing.T, code int, wanted ...string) {
	t.Helper()
	r.exits(t, code)
	if r.out != "" {
		t.Errorf("output %q", r.out)
	}
	contains(t, r.err, wanted...)
}

// mustExit ends the test if the exit code differs.
func (r result) mustExit(t *testing.T, code int, what ...any) {
	t.Helper()
	if r.exits(t, code, what...); r.code != code {
		t.FailNow()
	}
}

func run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return runStreams(t, cli.Streams{}, stdin, args...)
}

func runStreams(t *testing.T, streams cli.Streams, stdin string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	streams.In, streams.Out, streams.Err = strings.NewReader(stdin), &out, &err
	code := cli.Run(streams, "test", args)
	return result{code: code, out: out.String(), err: err.String()}
}

// write writes files into a new folder, and returns the folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		testutil.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	return folder
}

func stack(spec string) string {
	return "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: demo}\nspec: " + spec + "\n"
}

const simple = `{distribution: {name: starter}, resources: {models: [m]}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`

func TestValidateSamples(t *testing.T) {
	got := run(t, "", "validate", "-f", samples)
	got.mustExit(t, 0)
	entries, err := filepath.Glob(samples + "/v1alpha2-*.yaml")
	if err != nil || len(entries) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, entry := range entries {
		if !strings.Contains(got.err, "ok: "+entry) {
			t.Errorf("no line for %s in\n%s", entry, got.err)
		}
	}
}

// refusalCases are the cases of TestRefusals.
var refusalCases = map[string]struct {
	manifest string
	want     string
}{
	"unknown field": {
		stack(`{distribution: {name: starter}, networkin: {port: 8321}}`),
		`spec.networkin: unknown field; did you mean "networking"?`,
	},
	"unknown key of a provider": {
		stack(`{distribution: {name: starter}, providers: {inference: {provider: vllm, endpont: "http://vllm:8000"}}}`),
		`spec.providers.inference.endpont: unknown field; did you mean "endpoint"?`,
	},
	"version": {
		strings.Replace(stack(simple), "v1alpha2", "v1beta1", 1),
		`apiVersion: this command cannot read the version "llamastack.io/v1beta1"; use llamastack.io/v1alpha2, or llamastack.io/v1alpha1`,
	},
	"wrong group of an older document": {
		strings.Replace(stack(simple), "llamastack.io", "llama.meta.com", 1),
		`apiVersion: "llama.meta.com/v1alpha2" is not in the API group of this operator`,
	},
	"no group": {
		strings.Replace(stack(simple), "llamastack.io/", "", 1),
		`apiVersion: "v1alpha2" has no group; use llamastack.io/v1alpha2`,
	},
	"unknown distribution": {
		stack(`{distribution: {name: startr}}`),
		`spec.distribution.name: unknown distribution "startr"; known distributions: `,
	},
	"unknown version": {
		stack(`{distribution: {name: starter, version: "0.99"}}`),
		`spec.distribution.version: distribution "starter" has no version "0.99"; use one of the known versions: `,
	},
	"no name": {
		strings.Replace(stack(simple), "name: demo", "labels: {}", 1), "error: standard input: metadata.name: required: set the name of the stack",
	},
	"endpoint that the base takes from a variable": {
		stack(`{distribution: {name: starter}, providers: {inference: {provider: vllm}}}`),
		`spec.providers.inference.endpoint: required: remote::vllm does not start without an endpoint; set the value here, or set the variable VLLM_URL, ` +
			`which the base reads, in spec.secretEnv or spec.workload.overrides.env`,
	},
	"key that a type inherits and does not read": {
		stack(`{distribution: {name: starter}, providers: {inference: {provider: oci, apiKey: {secretKeyRef: {name: a, key: b}}, settings: {oci_compartment_id: a}}}}`),
		`spec.providers.inference.apiKey: remote::oci does not accept an API key in release 0.7; remove apiKey; configuration keys of this type: allowed_models, `,
	},
	"base that is not in the files": {
		stack(`{distribution: {name: starter}, baseConfig: {configMapName: base}}`),
		`spec.baseConfig.configMapName: the files do not contain ConfigMap "base" in namespace "default"; add the ConfigMap with another --filename`,
	},
	"base that is in another namespace": {
		stack(`{distribution: {name: starter}, baseConfig: {configMapName: base}}`) + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: base, namespace: elsewhere}}\n",
		`spec.baseConfig.configMapName: ConfigMap "base" is in namespace "elsewhere", and the stack is in namespace "default"`,
	},
	"CA bundle that is in another namespace": {
		stack(`{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: ca}}}}`) + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: ca, namespace: elsewhere}}\n",
		`spec.networking.tls.caBundle.configMapName: ConfigMap "ca" is in namespace "elsewhere", and the stack is in namespace "default"`,
	},
	"CA bundle without its key": {
		stack(`{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: ca}}}}`) + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {ca.crt: x}}\n",
		`spec.networking.tls.caBundle.configMapKeys: ConfigMap "ca" has no key "ca-bundle.crt"; add the key to the ConfigMap, or use one of its keys: ca.crt`,
	},
	"ConfigMap without keys": {
		stack(`{distribution: {name: starter}, overrideConfig: {configMapName: cfg}}`) + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: cfg}}\n",
		`spec.overrideConfig.key: ConfigMap "cfg" has no keys; add the key "config.yaml"`,
	},
}

func TestRefusals(t *testing.T) {
	for name, tc := range refusalCases {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"validate", "render"} {
				got := run(t, tc.manifest, verb, "-f", "-")
				got.exits(t, 1, verb)
				if !strings.Contains(got.err, tc.want) {
					t.Errorf("%s: no %q in\n%s", verb, tc.want, got.err)
				}
				if got.out != "" {
					t.Errorf("%s printed to standard output:\n%s", verb, got.out)
				}
			}
		})
	}
}

// The size of the expanded aliases is checked before the expansion, so that a few lines cannot expand to gigabytes.
func TestAliases(t *testing.T) {
	long := "&a " + strings.Repeat("x", 150_000)
	laughs := "[&a0 [x, x, x, x, x, x, x, x]"
	for i := range 10 {
		laughs += fmt.Sprintf(", &a%d [%s]", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8))
	}
	for name, text := range map[string]string{
		"a long text":                "[" + long + strings.Repeat(", *a", 3000) + "]",
		"aliases of aliases":         laughs + "]",
		"an alias in its own anchor": "&a [*a]",
	} {
		for what, manifest := range map[string]string{
			"stack":     stack("{distribution: {name: starter}, settings: {x: " + text + "}}"),
			"ConfigMap": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, x: " + text + "}\n---\n" + stack(simple),
		} {
			got := run(t, manifest, "validate", "-f", "-")
			if want := "error: standard input: is larger than 8 MiB or 400000 values after its aliases are expanded"; got.code != 1 || !strings.Contains(got.err, want) {
				t.Errorf("%s in a %s: exit code %d, no %q in\n%s", name, what, got.code, want, got.err)
			}
		}
	}
	few := stack(`{distribution: &a {name: starter}, networking: {allowedFrom: {namespaces: [&b team, *b]}}}`)
	if got := run(t, few, "validate", "-f", "-"); strings.Contains(got.err, "aliases") {
		t.Errorf("an alias of a short text: exit code %d\n%s", got.code, got.err)
	}
}

func TestUsageErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no file":         {[]string{"render"}, "name a manifest with --filename FILE or a folder with --kustomize FOLDER"},
		"file without -f": {[]string{"render", "stack.yaml"}, `"stack.yaml": name a manifest with --filename: kubectl-llamastack render -f stack.yaml`},
		"also validate":   {[]string{"validate", "stack.yaml"}, `"stack.yaml": name a manifest with --filename`},
		"missing file":    {[]string{"render", "-f", "nowhere.yaml"}, "nowhere.yaml"},
		"unknown output":  {[]string{"render", "-f", samples, "-o", "json"}, `--output: "json" is not a valid value; use one of config, objects, all, env`},
		"unknown command": {[]string{"rendr"}, `unknown command "rendr" for "kubectl-llamastack"; did you mean "render"?`},
		"word of kubectl": {[]string{"apply", "-f", "stack.yaml"}, `unknown command "apply" for "kubectl-llamastack"; run kubectl apply -f FILE`},
		"word of a group": {[]string{"image", "edit"}, `unknown command "edit" for "kubectl-llamastack image"`},
		"similar letters": {[]string{"edit", "demo"}, `unknown command "edit" for "kubectl-llamastack"; run kubectl edit llsd NAME`},
		"word of helm":    {[]string{"install"}, `unknown command "install" for "kubectl-llamastack"; to install the operator, see docs/how-to/install.md`},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", tc.args...)
			got.exits(t, 2)
			contains(t, got.err, tc.want)
		})
	}
}

// "objects" has the same objects as "all", without the base, the programs and the record of the operator.
func TestRenderObjects(t *testing.T) {
	want := []string{"ConfigMap", "ConfigMap", "ServiceAccount", "Deployment", "Service"}
	data := map[string]int{"objects": 1, "all": 2}
	for form := range data {
		got := run(t, "", "render", "-f", samples+"/v1alpha2-simple.yaml", "-o", form)
		got.mustExit(t, 0)
		var kinds []string
		for _, text := range strings.Split(got.out, "---\n")[1:] {
			var object struct {
				Kind     string `json:"kind"`
				Metadata struct{ Namespace string }
			}
			testutil.Must(t, yaml.Unmarshal([]byte(text), &object))
			kinds = append(kinds, object.Kind)
			if object.Metadata.Namespace != "default" {
				t.Errorf("%s in namespace %q", object.Kind, object.Metadata.Namespace)
			}
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("%s: kinds (-want +got):\n%s", form, diff)
		}
		if has := strings.Count(got.out, "\ndata:"); has != data[form] {
			t.Errorf("%s: %d objects with data, want %d", form, has, data[form])
		}
		if has := strings.Contains(got.out, "\n  base.yaml: "); has != (form == "all") {
			t.Errorf("%s: the output contains the base: %t", form, has)
		}
		if has := strings.Contains(got.out, "llamastack.io/rendered: "); has != (form == "all") {
			t.Errorf("%s: the output contains the record: %t", form, has)
		}
	}
}

// The command does not need the Secret from which the operator derives values. The output contains the derived Secret
// with empty values, and the source of each value.
func TestRenderDerivedSecret(t *testing.T) {
	got := run(t, stack(`{distribution: {name: starter}, storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}}`), "render", "-f", "-", "-o", "objects")
	got.mustExit(t, 0)
	contains(t, got.out,
		`#   sql-host: Secret "pg", key "url" (spec.storage.sql.connectionString.secretKeyRef)`,
		"  sql-host: \"\"\n", "kind: Secret\n", "  name: demo-storage\n")
}

// A note replaces a configuration that the operator does not generate.
func TestRenderConfigOfTheImage(t *testing.T) {
	got := run(t, stack(`{distribution: {name: starter}}`), "render", "-f", "-", "-o", "config")
	got.exits(t, 0)
	contains(t, got.out, "# demo: the server uses the configuration of its image unchanged; the operator generates no configuration.")
}

// The configurations of several stacks are separate YAML documents.
func TestRenderSeveral(t *testing.T) {
	other := strings.Replace(stack(simple), "name: demo", "name: other", 1)
	got := run(t, stack(simple)+"---\n"+other, "render", "-f", "-")
	for _, name := range []string{"demo", "other"} {
		contains(t, got.out, "---\n# LlamaStackDistribution: "+name+"\n")
	}
}

// A ConfigMap in any of the files can be the base configuration.
func TestRenderBaseFromFile(t *testing.T) {
	base := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata:\n  config.yaml: |\n" +
		"    version: 2\n    distro_name: mine\n    apis: [inference]\n    providers:\n      inference: []\n    my_section: {kept: true}\n"
	object := stack(`{distribution: {image: "example.com/stack:0.7.1"}, baseConfig: {configMapName: base}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`)
	folder := write(t, map[string]string{"1-stack.yaml": object, "2-base.yaml": base})
	got := run(t, "", "render", "-f", folder, "-o", "config")
	got.exits(t, 0)
	contains(t, got.out, "my_section")
}

// If one stack is invalid, nothing is printed, because a command that reads the output would apply the other stacks.
func TestRenderAllOrNothing(t *testing.T) {
	got := run(t, stack(simple)+"---\n"+stack(`{distribution: {name: nowhere}}`), "render", "-f", "-")
	if got.code != 1 || got.out != "" {
		t.Errorf("exit code %d, standard output %q; want 1 and nothing", got.code, got.out)
	}
}

func TestSecretsStayOut(t *testing.T) {
	const canary = "canary-3f9a"
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: " + canary + "}\n---\n"
	object := stack(`{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://v:1", apiKey: {secretKeyRef: {name: s, key: token}}}}}`)
	for _, args := range [][]string{
		{"render", "-f", "-", "-o", "all"},
		{"render", "-f", "-", "-o", "config"},
		{"render", "-f", "-", "-o", "env"},
		{"validate", "-f", "-"},
	} {
		got := run(t, secret+object, args...)
		got.exits(t, 0, args)
		if strings.Contains(got.out+got.err, canary) {
			t.Errorf("%v printed a secret", args)
		}
	}
	broken := strings.Replace(secret, "stringData: {", "stringData: {x: [", 1)
	broken = strings.Replace(broken, canary+"}", canary+"]}", 1)
	if got := run(t, broken+object, "validate", "-f", "-"); strings.Contains(got.out+got.err, canary) {
		t.Errorf("an undecodable Secret was printed:\n%s", got.err)
	}
}

// If both the validation of the spec and the generation of the configuration find the same problem, the command reports
// it once.
func TestDisabledAndConfiguredIsReportedOnce(t *testing.T) {
	object := stack(`{distribution: {name: starter}, providers: {inference: [{id: a, provider: openai}, {id: b, provider: openai}]}, disabled: [inference/b]}`)
	got := run(t, object, "validate", "-f", "-")
	if n := strings.Count(got.out+got.err, "spec.providers.inference[1]"); n != 1 {
		t.Errorf("reported %d times:\n%s%s", n, got.out, got.err)
	}
}
