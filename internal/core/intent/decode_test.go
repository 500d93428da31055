package intent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// object reads a spec from YAML in the form in which the API server would store it.
func object(t testing.TB, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	var obj v1alpha2.LlamaStackDistribution
	obj.Name, obj.Namespace = "demo", "default"
	if err := yaml.UnmarshalStrict([]byte(spec), &obj.Spec); err != nil {
		t.Fatalf("the spec of the test is invalid: %v", err)
	}
	return &obj
}

// indent indents a fragment of YAML to the given depth below its parent fields.
func indent(depth int, text string) string {
	prefix := strings.Repeat("  ", depth)
	return prefix + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n"+prefix) + "\n"
}

const (
	inference = "providers:\n  inference:\n"
	models    = "resources:\n  models:\n"
	tools     = "resources:\n  tools:\n"
	shields   = "resources:\n  shields:\n"
)

// errorCases are the cases of TestErrors: those that the table in internal/core/validate/testdata/cases does not have.
var errorCases = map[string]struct {
	spec string
	want []string
}{
	"field with different upper and lower case": {inference + indent(2, "provider: vllm\napikey: {secretKeyRef: {name: a, key: b}}"), []string{
		`spec.providers.inference.apikey: unknown field; did you mean "apiKey"?`,
	}},
	"incomplete reference": {inference + indent(2, "provider: vllm\napiKey: {secretKeyRef: {name: a, kye: b}}"), []string{
		"spec.providers.inference.apiKey.secretKeyRef.key: required: set a key of that Secret",
		`spec.providers.inference.apiKey.secretKeyRef.kye: unknown field; did you mean "key"?`,
	}},
	"empty secretRefs": {inference + indent(2, "provider: vllm\nsecretRefs: {}"), []string{
		"spec.providers.inference.secretRefs: must not be empty; omit the field to use the default",
	}},
	"settings that are nested too deeply": {inference + indent(2, "provider: vllm\nsettings: {a: "+strings.Repeat("[", 40)+
		strings.Repeat("]", 40)+"}"), []string{
		"spec.providers.inference.settings: is nested more than 32 levels deep; reduce the nesting",
	}},
	"empty key": {inference + indent(2, `provider: vllm
secretRefs: {"": {secretKeyRef: {name: a, key: b}}}`), []string{
		"spec.providers.inference.secretRefs[]: a key in a provider's configuration must not be empty: set the key, or remove the entry",
	}},
	"one key set twice": {inference + indent(2, `provider: vllm
host: {secretKeyRef: {name: a, key: b}}
secretRefs: {host: {secretKeyRef: {name: a, key: c}}}
settings: {host: x}`), []string{
		`spec.providers.inference.settings.host: "host" is also set by spec.providers.inference.secretRefs[host].secretKeyRef; keep one of them`,
		`spec.providers.inference.host.secretKeyRef: "host" is also set by spec.providers.inference.secretRefs[host].secretKeyRef; keep one of them`,
		`spec.providers.inference.settings.host: "host" is also set by spec.providers.inference.host.secretKeyRef; keep one of them`,
	}},
	"two values, one variable": {inference + indent(2, `- {id: a-b, provider: vllm, apiKey: {secretKeyRef: {name: one, key: k}}}
- {id: a_b, provider: vllm, apiKey: {secretKeyRef: {name: two, key: k}}}`), []string{
		"spec.providers.inference[1].apiKey.secretKeyRef: is stored in the variable LLSD_A_B_API_KEY, but " +
			"spec.providers.inference[0].apiKey.secretKeyRef uses the same variable for a different Secret or key; " +
			"give one of the providers another ID, or remove one of the two references",
	}},
	"model's numbers": {models + indent(2, `- {name: a, contextLength: 0}
- {name: b, contextLength: 1.5}
- {name: c, contextLength: "8"}
- {name: d, context_length: 8}
- {name: e, metadata: []}`), []string{
		"spec.resources.models[0].contextLength: 0 is not a whole number greater than 0",
		"spec.resources.models[1].contextLength: 1.5 is not a whole number greater than 0",
		"spec.resources.models[2].contextLength: must be a whole number greater than 0, got a string",
		`spec.resources.models[3].context_length: unknown field; did you mean "contextLength"?`,
		"spec.resources.models[4].metadata: must be an object, got a list",
	}},
	"MCP endpoints": {tools + indent(2, `- {name: a, mcpEndpoint: tickets:8080}
- {name: b, mcpEndpoint: "http://"}
- {name: c, mcpEndpoint: "http://me:hidden@host/"}
- {name: d, mcpEndpoint: "http://a b"}
- {name: e, mcpEndpoint: "${env.MCP}"}`), []string{
		`spec.resources.tools[0].mcpEndpoint: "tickets:8080" does not begin with http:// or https://; write a URL such as http://host:8000`,
		`spec.resources.tools[1].mcpEndpoint: "http://" has no host; write a URL such as http://host:8000`,
		`spec.resources.tools[2].mcpEndpoint: "http://…@host/" contains a user name or password, which is not allowed in a URL; put the credential in a Secret`,
		`spec.resources.tools[3].mcpEndpoint: "http://a b" is not a URL; write a URL such as http://host:8000`,
	}},
	"shield": {shields + indent(2, "- {name: a, guard: b}"), []string{
		"spec.resources.shields[0].guard: unknown field; known fields: model, name, params, provider",
	}},
}

// Each row is a fragment of a spec with all error messages for it.
func TestErrors(t *testing.T) {
	for name, tc := range errorCases {
		t.Run(name, func(t *testing.T) {
			in, errs := intent.FromObject(object(t, tc.spec))
			if in == nil {
				t.Fatal("no intent")
			}
			if diff := cmp.Diff(tc.want, messages(errs)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func messages(errs field.ErrorList) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, intent.Message(err))
	}
	return lines
}

// The cases are valid and invalid Redis endpoints, with their decoded values or their messages.
func TestRedisEndpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"cache":                    "cache 6379",
		"redis://cache:6380/":      "cache 6380",
		"[::1]:6380":               "[::1] 6380",
		"rediss://cache":           `"rediss://cache" requires TLS, but the server connects to Redis without TLS; write redis://`,
		"http://cache":             `"http://cache" is not the address of a Redis server: write host:port or redis://host:port`,
		"redis://:hidden@cache":    `"redis://…@cache" contains a user name or password; put the password in a Secret, and set password.secretKeyRef`,
		"user:hidden@cache:6379":   `"…@cache:6379" contains a user name or password; put the password in a Secret, and set password.secretKeyRef`,
		"redis://cache/3":          `"redis://cache/3" contains more than a host and a port, but the server reads only the host and the port; write host:port`,
		"redis://cache?db=3":       `"redis://cache?…" contains more than a host and a port, but the server reads only the host and the port; write host:port`,
		"cache:0":                  `"cache:0" has a port that is not between 1 and 65535; correct the port`,
		"cache:70000":              `"cache:70000" has a port that is not between 1 and 65535; correct the port`,
		"cache:six":                `"cache:six" is not the address of a Redis server: write host:port or redis://host:port`,
		"a cache":                  `"a cache" is not the address of a Redis server: write host:port or redis://host:port`,
		"redis://":                 `"redis://" is not the address of a Redis server: write host:port or redis://host:port`,
		"${env.REDIS_HOST}:6379":   `"${env.REDIS_HOST}:6379" is not the address of a Redis server: write host:port or redis://host:port`,
		"redis://us%er:h@x:1/%zz@": `"redis://…@" is not the address of a Redis server: write host:port or redis://host:port`,
	} {
		t.Run(endpoint, func(t *testing.T) {
			in, errs := intent.FromObject(object(t, "storage: {kv: {type: redis, endpoint: '"+endpoint+"'}}"))
			var got string
			if len(errs) > 0 {
				got = strings.TrimPrefix(intent.Messages(errs), "spec.storage.kv.endpoint: ")
			} else {
				got = in.Storage.KV.Host + " " + itoa(in.Storage.KV.Port)
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if strings.Contains(got, "hidden") {
				t.Error("the message shows a password")
			}
		})
	}
}

// A value that no API server would store causes an error and not a panic.
func TestNotJSON(t *testing.T) {
	for _, raw := range []string{"", "{", "{} {}", "\x00"} {
		obj := object(t, "")
		obj.Spec.Providers = &v1alpha2.ProvidersSpec{Safety: &v1alpha2.Providers{Raw: []byte(raw)}}
		obj.Spec.Resources = &v1alpha2.ResourcesSpec{Models: []v1alpha2.ModelEntry{{Raw: []byte(raw)}}}
		_, errs := intent.FromObject(obj)
		if got, want := intent.Messages(errs), "spec.providers.safety: is not valid JSON; correct the syntax of the value\n"+
			"spec.resources.models[0]: is not valid JSON; correct the syntax of the value"; got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", raw, got, want)
		}
	}
}
