package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// asJSON returns a manifest as JSON.
func asJSON(t *testing.T, manifest string) string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(manifest))
	testutil.Must(t, err)
	return string(data)
}

// The commands read the output of kubectl get: generic lists and typed lists, in YAML and in JSON.
func TestLists(t *testing.T) {
	one, two := asJSON(t, stack(simple)), strings.Replace(asJSON(t, stack(simple)), `"demo"`, `"other"`, 1)
	wrong := asJSON(t, stack(`{distribution: {name: starter}, networkin: {}}`))
	for name, manifest := range map[string]string{
		"a list":                  `{"apiVersion": "v1", "kind": "List", "items": [` + one + "," + two + "]}",
		"a list of lists":         `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "List", "items": [` + one + "]}," + two + "]}",
		"one value after another": one + "\n" + two,
		"a list of one kind": strings.NewReplacer(`"kind":"LlamaStackDistribution",`, "",
			`"apiVersion":"llamastack.io/v1alpha2",`, "").Replace(
			`{"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistributionList", "items": [` + one + "," + two + "]}"),
	} {
		for form, text := range map[string]string{"JSON": manifest, "YAML": toYAML(t, manifest)} {
			t.Run(name+" in "+form, func(t *testing.T) {
				got := run(t, text, "validate", "-f", "-")
				got.exits(t, 0)
				contains(t, got.err, "ok: standard input: demo")
				contains(t, got.err, "ok: standard input: other")
			})
		}
	}
	got := run(t, `{"apiVersion": "v1", "kind": "List", "items": [`+one+","+wrong+"]}", "validate", "-f", "-")
	got.exits(t, 1, "invalid item")
	contains(t, got.err, `error: standard input: demo: spec.networkin: unknown field; did you mean "networking"?`)
}

// toYAML returns each of the JSON values as a YAML document.
func toYAML(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var documents []string
	for decoder.More() {
		var value json.RawMessage
		testutil.Must(t, decoder.Decode(&value))
		data, err := yaml.JSONToYAML(value)
		testutil.Must(t, err)
		documents = append(documents, string(data))
	}
	return strings.Join(documents, "---\n")
}

// The commands read a character above U+FFFF that JSON represents as two escape sequences. A YAML parser does not
// combine these sequences.
func TestJSONWithSurrogatePairs(t *testing.T) {
	manifest := strings.Replace(asJSON(t, stack(`{distribution: {name: starter}, workload: {overrides: {podAnnotations: {a: FACE}}}}`)), "FACE", `\ud83d\ude00`, 1)
	got := run(t, manifest, "render", "-f", "-", "-o", "objects")
	got.mustExit(t, 0)
	contains(t, got.out, `a: "\U0001F600"`)
}

// The commands skip an unreadable file in a folder, unless the file mentions LlamaStackDistribution. A file that is an
// argument of the command must be readable.
func TestFoldersWithForeignFiles(t *testing.T) {
	const chart = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Values.name }}\n{{- end }}\n"
	folder := write(t, map[string]string{"a.yaml": chart, "b.yaml": stack(simple), "c.yaml": "- a\n- b\n", "d.json": "{"})
	for _, verb := range []string{"validate", "render"} {
		got := run(t, "", verb, "-f", folder)
		got.exits(t, 0, verb)
		for _, file := range []string{"a.yaml", "c.yaml", "d.json"} {
			contains(t, got.err, "note: "+filepath.Join(folder, file)+": skipped because it is not ")
		}
	}
	named := run(t, "", "validate", "-f", filepath.Join(folder, "a.yaml"), "-f", filepath.Join(folder, "b.yaml"))
	named.exits(t, 1, "unreadable file as an argument")
	contains(t, named.err, "error: "+filepath.Join(folder, "a.yaml")+":5:1: is not valid YAML: line 5: ")
	contains(t, named.err, "ok: "+filepath.Join(folder, "b.yaml"))
	contains(t, named.err, "invalid stacks: 1 of 2")

	ours := write(t, map[string]string{"a.yaml": "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: {{ .Release }}\n", "b.yaml": stack(simple)})
	if got := run(t, "", "validate", "-f", ours); got.code != 1 || !strings.Contains(got.err, "ok: "+filepath.Join(ours, "b.yaml")) {
		t.Errorf("template with a LlamaStackDistribution: exit code %d, want 1 and a line for the other file\n%s", got.code, got.err)
	}
}

// The exit code is 1 for an unreadable file. Exit code 2 means an invalid command line.
func TestUnreadableManifests(t *testing.T) {
	for name, tc := range map[string]struct{ manifest, want string }{
		"tab": {
			"apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: a}\nspec:\n\tdistribution: {name: starter}\n",
			"error: standard input: is not valid YAML: line 5 is indented with a tab; use spaces",
		},
		"misspelled kind": {
			strings.Replace(stack(simple), "LlamaStackDistribution", "LlamaStackDistributon", 1),
			`error: standard input: kind: "LlamaStackDistributon" is not a kind that this operator manages; use LlamaStackDistribution`,
		},
		"unknown kind of the API group": {
			strings.Replace(stack(simple), "LlamaStackDistribution", "Stack", 1),
			`error: standard input: kind: "Stack" is not a kind that this operator manages; use LlamaStackDistribution`,
		},
		"no kind": {"apiVersion: llamastack.io/v1alpha2\nspec: {}\n", "error: standard input: kind: required; set LlamaStackDistribution"},
		"no stack": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n", "error: no LlamaStackDistribution in standard input; found only Deployment",
		},
		"only an OGXServer": {
			"apiVersion: ogx.io/v1beta1\nkind: OGXServer\nmetadata: {name: demo}\n",
			"found only OGXServer; to convert an OGXServer to a stack, use kubectl llamastack convert",
		},
		"not an object": {"- a\n- b\n", "error: standard input: is not a Kubernetes object"},
		"JSON with a key twice": {
			strings.Replace(asJSON(t, stack(simple)), `"spec":`, `"spec":{},"spec":`, 1), "remove one of the two ",
		},
		"ConfigMap with a value that is not a string": {
			stack(simple) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: [1]}\n",
			"error: standard input: is not a valid ConfigMap: the values of its data, labels and annotations must be strings; quote numbers and booleans",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"validate", "render"} {
				got := run(t, tc.manifest, verb, "-f", "-")
				got.exits(t, 1, verb)
				contains(t, got.err, tc.want)
			}
		})
	}
}

// One run of validate reports all mistakes.
func TestAllMistakesAtOnce(t *testing.T) {
	got := run(t, stack(`{distribution: {name: starter}, networking: {port: "8321"}, workload: {replicas: two, storage: {size: 10GB}},
	  secretEnv: {A: {name: a, key: b}, 1B: {secretKeyRef: {name: a, key: b}}},
	    zzz: 1, disabled: [nothing]}`), "validate", "-f", "-")
	want := strings.Join([]string{
		`error: standard input: demo: spec.networking.port: must be a whole number, got "8321"; write it without quotes`,
		`error: standard input: demo: spec.secretEnv[A]: key and name belong one level deeper: write {secretKeyRef: {name: …, key: …}}`,
		`error: standard input: demo: spec.workload.replicas: must be a whole number, got "two"`,
		`error: standard input: demo: spec.workload.storage.size: "10GB" is not a quantity: write a quantity such as 10Gi, 500m or 2`,
		`error: standard input: demo: spec.zzz: unknown field: remove it`,
		`error: standard input: demo: spec.secretEnv[1B]: "1B" is not a valid variable name: use uppercase letters, digits and '_', and begin with a letter`,
	}, "\n")
	if !strings.HasPrefix(got.err, want) || got.code != 1 {
		t.Errorf("exit code %d, messages:\n%s", got.code, got.err)
	}
	contains(t, got.err, `spec.disabled[0]: "nothing" is not an API of any server release`)
	if n := strings.Count(got.err, "error:"); n != 7 {
		t.Errorf("%d errors, want 7:\n%s", n, got.err)
	}
}

// If the files contain a Secret to which a stack refers, the Secret must contain the referenced key, and the server
// must be able to use the value of the key. Messages do not contain values.
func TestSecretsInFiles(t *testing.T) {
	object := stack(`{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://v:1", apiKey: {secretKeyRef: {name: s, key: token}}}},
	  storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}}`)
	for name, tc := range map[string]struct{ secret, want string }{
		"valid":                     {`{name: s}, stringData: {token: canary}`, ""},
		"other Secrets only":        {`{name: other}, stringData: {}`, ""},
		"other namespace":           {`{name: s, namespace: elsewhere}, stringData: {}`, `spec.providers.inference.apiKey.secretKeyRef: Secret "s" is in namespace "elsewhere", and the stack is in namespace "default"`},
		"other stack's namespace":   {`{name: s, namespace: elsewhere}, stringData: {}}` + "\n---\n" + strings.Replace(stack(`{distribution: {name: starter}}`), "{name: demo}", "{name: demo, namespace: elsewhere}", 1) + "---\n{apiVersion: v1, kind: Secret, metadata: {name: unused}", ""},
		"no key":                    {`{name: s}, stringData: {tokn: canary, other: canary}`, `spec.providers.inference.apiKey.secretKeyRef: Key "token" not found in Secret "s" in namespace "default"; add the key to the Secret, or use one of its keys: other, tokn`},
		"no keys":                   {`{name: s}`, `spec.providers.inference.apiKey.secretKeyRef: Key "token" not found in Secret "s" in namespace "default"; add the key to the Secret, which has no keys`},
		"empty":                     {`{name: s}, data: {token: ""}`, `spec.providers.inference.apiKey.secretKeyRef: Key "token" of Secret "s" in namespace "default" is empty; set a value`},
		"a number":                  {`{name: s}, stringData: {token: "98765"}`, `Key "token" of Secret "s" in namespace "default" looks like a number, so the server converts and then rejects the value; use another value`},
		"unquoted":                  {`{name: s}, stringData: {token: 98765}`, "error: standard input: is not a valid Secret: the values of its data, labels and annotations must be strings; quote numbers and booleans"},
		"not base64":                {`{name: s}, data: {token: "can ary"}`, "error: standard input: is not a valid Secret: a value in data is not base64; put plain text into stringData"},
		"invalid connection string": {`{name: pg}, stringData: {url: "mysql://canary"}`, `spec.storage.sql.connectionString.secretKeyRef: key "url" of Secret "pg": the value is not a PostgreSQL connection string`},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, object+"---\n{apiVersion: v1, kind: Secret, metadata: "+tc.secret+"}\n", "validate", "-f", "-")
			if want := map[bool]int{true: 1}[tc.want != ""]; got.code != want {
				t.Errorf("exit code %d, want %d\n%s", got.code, want, got.err)
			}
			contains(t, got.err, tc.want)
			for _, value := range []string{"canary", "98765"} {
				if strings.Contains(got.err, value) {
					t.Errorf("a message contains a value:\n%s", got.err)
				}
			}
		})
	}
}

// A command that reads a folder does not wait for a pipe or a device in it. Anyone can put a link into a repository.
func TestLinksInAFolder(t *testing.T) {
	folder := write(t, map[string]string{"good.yaml": stack(simple)})
	if err := os.Symlink(t.TempDir(), filepath.Join(folder, "link.yaml")); err != nil {
		t.Skipf("the system does not allow links: %v", err)
	}
	run(t, "", "validate", "-f", folder).exits(t, 0)
}
