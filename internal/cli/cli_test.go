package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
)

const samples = "../../config/samples"

// result is the result of a command line.
type result struct {
	code     int
	out, err string
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
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func stack(spec string) string {
	return "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: demo}\nspec: " + spec + "\n"
}

const simple = `{distribution: {name: starter}, resources: {models: [m]}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`

func TestValidateSamples(t *testing.T) {
	got := run(t, "", "validate", "-f", samples)
	if got.code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", got.code, got.err)
	}
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

// The complete example in the requirements contains three mistakes. One run reports all of them.
func TestValidateExample(t *testing.T) {
	got := run(t, "", "validate", "-f", "testdata/spec-example-as-it-stands.yaml")
	if got.code != 1 {
		t.Errorf("exit code %d, want 1", got.code)
	}
	for _, want := range []string{
		`apiVersion: "llamastack.ai/v1alpha2" is not in the API group of this operator, which is llamastack.io; use llamastack.io/v1alpha2`,
		`spec.resources.models[1].provider: "vllm-primary" is not a configured inference provider; did you mean "vllm"?`,
		`spec.disabled[0]`,
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("no message %q in\n%s", want, got.err)
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
	"unknown field in a list": {
		stack(`{distribution: {name: starter}, workload: {overrides: {volumeMounts: [{name: a, mountPth: /a}]}}}`),
		`spec.workload.overrides.volumeMounts[0].mountPth: unknown field; did you mean "mountPath"?`,
	},
	"unknown field in a map": {
		stack(`{distribution: {name: starter}, externalProviders: {inference: [{providerId: a, imag: b, image: c}]}}`),
		`spec.externalProviders.inference[0].imag: unknown field; did you mean "image"?`,
	},
	"unknown field without a similar field": {
		stack(`{distribution: {name: starter}, zzzzzzzzz: 1}`),
		"spec.zzzzzzzzz: unknown field: remove it\n",
	},
	"unknown key of a provider": {
		stack(`{distribution: {name: starter}, providers: {inference: {provider: vllm, endpont: "http://vllm:8000"}}}`),
		`spec.providers.inference.endpont: unknown field; did you mean "endpoint"?`,
	},
	"key that is set twice": {
		"apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n  distribution: {name: starter}\n  distribution: {name: other}\n",
		`key "distribution" already set in map`,
	},
	"value of a wrong type": {
		stack(`{distribution: {name: starter}, networking: {port: eighty}}`),
		`spec.networking.port: must be a whole number, got "eighty"`,
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
				if got.code != 1 {
					t.Errorf("%s: exit code %d, want 1", verb, got.code)
				}
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
		"similar letters": {[]string{"edit", "demo"}, `unknown command "edit" for "kubectl-llamastack"; run kubectl edit llsd NAME`},
		"word of helm":    {[]string{"install"}, `unknown command "install" for "kubectl-llamastack"; to install the operator, see docs/how-to/install.md`},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", tc.args...)
			if got.code != 2 || !strings.Contains(got.err, tc.want) {
				t.Errorf("exit code %d, want 2, with %q in\n%s", got.code, tc.want, got.err)
			}
		})
	}
}

// "objects" has the same objects as "all", without the base, the programs and the record of the operator.
func TestRenderObjects(t *testing.T) {
	want := []string{"ConfigMap", "ConfigMap", "ServiceAccount", "Deployment", "Service"}
	data := map[string]int{"objects": 1, "all": 2}
	for form := range data {
		got := run(t, "", "render", "-f", samples+"/v1alpha2-simple.yaml", "-o", form)
		if got.code != 0 {
			t.Fatalf("exit code %d\n%s", got.code, got.err)
		}
		var kinds []string
		for _, text := range strings.Split(got.out, "---\n")[1:] {
			var object struct {
				Kind     string `json:"kind"`
				Metadata struct{ Namespace string }
			}
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatal(err)
			}
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
	if got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	for _, want := range []string{
		`#   sql-host: Secret "pg", key "url" (spec.storage.sql.connectionString.secretKeyRef)`,
		"  sql-host: \"\"\n", "kind: Secret\n", "  name: demo-storage\n",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
}

func TestRenderConfig(t *testing.T) {
	for name, tc := range map[string]struct{ spec, want string }{
		"generated":     {simple, "base_url: http://vllm:8000/v1"},
		"image default": {`{distribution: {name: starter}}`, "# demo: the server uses the configuration of its image unchanged; the operator generates no configuration."},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, stack(tc.spec), "render", "-f", "-", "-o", "config")
			if got.code != 0 || !strings.Contains(got.out, tc.want) {
				t.Errorf("exit code %d, no %q in\n%s%s", got.code, tc.want, got.out, got.err)
			}
		})
	}
}

func TestRenderEnv(t *testing.T) {
	got := run(t, "", "render", "-f", samples+"/v1alpha2-simple.yaml", "-o", "env")
	if got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	var variables []corev1.EnvVar
	if err := yaml.UnmarshalStrict([]byte(got.out), &variables); err != nil {
		t.Fatal(err)
	}
	for _, variable := range variables {
		if variable.Name != "LLSD_VLLM_API_KEY" {
			continue
		}
		want := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "vllm-creds"}, Key: "token"}
		if diff := cmp.Diff(want, variable.ValueFrom.SecretKeyRef); diff != "" {
			t.Errorf("LLSD_VLLM_API_KEY (-want +got):\n%s", diff)
		}
		return
	}
	t.Errorf("no LLSD_VLLM_API_KEY in\n%s", got.out)
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
	if got.code != 0 || !strings.Contains(got.out, "my_section") {
		t.Errorf("exit code %d, no section of the base in\n%s%s", got.code, got.out, got.err)
	}
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
		if got.code != 0 {
			t.Errorf("%v: exit code %d\n%s", args, got.code, got.err)
		}
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

func TestColor(t *testing.T) {
	const escape = "\x1b["
	wrong := stack(`{distribution: {name: nowhere}}`)
	if got := run(t, wrong, "validate", "-f", "-"); strings.Contains(got.err, escape) {
		t.Errorf("color without a terminal:\n%q", got.err)
	}
	if got := runStreams(t, cli.Streams{Color: true}, wrong, "validate", "-f", "-"); !strings.Contains(got.err, escape) {
		t.Errorf("no color on a terminal:\n%q", got.err)
	}
}

func TestStrict(t *testing.T) {
	object := stack(`{distribution: {name: starter}, disabled: [postTraining]}`)
	if got := run(t, object, "validate", "-f", "-"); got.code != 0 || !strings.Contains(got.err, "warning:") {
		t.Errorf("exit code %d, want 0 with a warning:\n%s", got.code, got.err)
	}
	if got := run(t, object, "validate", "--strict", "-f", "-"); got.code != 1 {
		t.Errorf("--strict: exit code %d, want 1:\n%s", got.code, got.err)
	}
}

func TestHelpShowsExamples(t *testing.T) {
	for _, verb := range []string{"render", "validate"} {
		if got := run(t, "", verb, "--help"); got.code != 0 || !strings.Contains(got.out, "kubectl llamastack "+verb+" ") {
			t.Errorf("%s --help: exit code %d, no example in\n%s", verb, got.code, got.out)
		}
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
