package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
)

const canary = "cAnArY-7d1f-51e2"

func TestText(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no secret":            {"INFO started 3 workers, max_tokens=512", "INFO started 3 workers, max_tokens=512"},
		"assignment":           {"password=" + canary + " host=db", "password=<redacted> host=db"},
		"words before":         {"the token password=" + canary, "the token password=<redacted>"},
		"JSON":                 {`{"api_key": "` + canary + `", "url": "http://a"}`, `{"api_key": <redacted>, "url": "http://a"}`},
		"escaped JSON":         {`{\"api_key\": \"` + canary + `\"}`, `{\"api_key\": <redacted>}`},
		"cut off":              {`api_token='` + canary, "api_token=<redacted>"},
		"spaces in quotes":     {`secret: "` + canary + ` and ` + canary + `" x`, "secret: <redacted> x"},
		"flag":                 {"run --api-key " + canary + " --port 1", "run --api-key <redacted> --port 1"},
		"header":               {"Authorization: Bearer " + canary, "Authorization: <redacted>"},
		"another scheme":       {"> authorization: Token " + canary + "\r\na", "> authorization: <redacted>\r\na"},
		"scheme with fields":   {"Authorization: AWS4 Credential=a, Signature=" + canary, "Authorization: <redacted>"},
		"cookies":              {"Set-Cookie: theme=dark; session=" + canary, "Set-Cookie: <redacted>"},
		"header in Python":     {`b'Cookie: a=b; c=` + canary + `\r\nHost: x'`, `b'Cookie: <redacted>\r\nHost: x'`},
		"header after a break": {`b'GET / HTTP/1.1\r\nAuthorization: Token ` + canary + `\r\n'`, `b'GET / HTTP/1.1\r\nAuthorization: <redacted>\r\n'`},
		"signature in a URL":   {"GET /a?X-Amz-Signature=" + canary + "&x=1", "GET /a?X-Amz-Signature=<redacted>&x=1"},
		"bearer alone":         {"sent Bearer " + canary, "sent Bearer <redacted>"},
		"URL":                  {"redis://:" + canary + "@redis:6379/0", "redis://<redacted>@redis:6379/0"},
		"URL without user":     {"http://vllm:8000/v1?x=b", "http://vllm:8000/v1?x=b"},
		"OpenAI":               {"Incorrect API key provided: sk-" + canary, "Incorrect API key provided: <redacted>"},
		"Hugging Face":         {"hf_abcdefghijklmnop", "<redacted>"},
		"AWS":                  {"AKIAIOSFODNN7EXAMPLE", "<redacted>"},
		"JWT":                  {"eyJhbGciOi.eyJzdWIiOiIx.c2ln", "<redacted>"},
		"private key":          {"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest", "<redacted>\nrest"},
		"private key, cut off": {"-----BEGIN PRIVATE KEY-----\nabc", "<redacted>"},
		"reference":            {"api_token: ${env.LLSD_VLLM_API_KEY}", "api_token: ${env.LLSD_VLLM_API_KEY}"},
		"name of a Secret":     {"secretName: my-tls", "secretName: my-tls"},
	} {
		t.Run(name, func(t *testing.T) {
			got := redact.Text(tc.text)
			if strings.Contains(got, canary) {
				t.Errorf("the secret is shown in %q", got)
			}
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if again := redact.Text(got); again != got {
				t.Errorf("the result of a second call is %q, want %q", again, got)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	var known redact.Known
	known.Add(canary + "\nsecond-line-of-it")
	known.Add("short")
	encoded := base64.StdEncoding.EncodeToString([]byte(canary + "\nsecond-line-of-it"))
	got := known.Text("a " + canary + " b second-line-of-it c " + encoded + " d short")
	if want := "a <redacted> b <redacted> c <redacted> d short"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestKnownWritten checks that a value is replaced in the forms in which programs write it: JSON, a quoted text, a URL.
// It also checks that the password in a URL is replaced where it is alone.
func TestKnownWritten(t *testing.T) {
	const value = `p4ss"w\or<d & %/more`
	var known redact.Known
	known.Add(value)
	known.Add("postgresql://user:p4ss%20w0rd@db/llama")
	for _, text := range []string{
		"p4ss w0rd", "p4ss%20w0rd", value, `p4ss\"w\\or<d & %/more`, `p4ss\"w\\or\u003cd \u0026 %/more`, "p4ss%22w%5Cor%3Cd+%26+%25%2Fmore",
		"p4ss%22w%5Cor%3Cd%20&%20%25%2Fmore",
	} {
		if got, want := known.Text("a "+text+" b"), "a <redacted> b"; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestKnownEncoded checks that a value is replaced in the base64 form of a longer text, in both alphabets.
func TestKnownEncoded(t *testing.T) {
	const value = "s3cr??t>>value"
	var known redact.Known
	known.Add(value)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for _, before := range []string{"u:", "us:", "use:"} {
			text := encoding.EncodeToString([]byte(before + value + "&more"))
			if got := known.Text("a " + text + " b"); !strings.Contains(got, "<redacted>") || len(got) > len(text)-3 {
				t.Errorf("%s: got %q", text, got)
			}
		}
	}
}

// TestKnownObject checks that the credentials in a value that is a JSON object are known, and that its other strings
// are not.
func TestKnownObject(t *testing.T) {
	var known redact.Known
	known.Add(`{"auths": {"registry.example.com": {"username": "llamastack", "password": "` + canary + `-p",
		"auth": "` + canary + `-a", "identitytoken": "` + canary + `-i", "registrytoken": "` + canary + `-r"}}}`)
	known.Add(`{"type": "service_account", "project_id": "my-project", "private_key": "` + canary + `-k\nsecond-line-of-it\n"}`)
	got := known.Text(strings.ReplaceAll("llamastack C-p C-a C-i C-r my-project C-k second-line-of-it", "C", canary))
	if want := "llamastack <redacted> <redacted> <redacted> <redacted> my-project <redacted> <redacted>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestObject(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"Secret": {
			"{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, data: {b: QQ==, a: QQ==}, stringData: {c: x}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, keys: [a, b]}",
		},
		"ConfigMap": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, binaryData: {x: QQ==}, data: {a.yaml: "server: {api_token: secret-text, url: 'http://u:p@h'} # note", run.py: "print(1)"}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, binaryData: {x: <redacted>}, data: {a.yaml: "server:\n    api_token: <redacted>\n    url: http://<redacted>@h\n", run.py: "<redacted: 8 bytes>"}}`,
		},
		"metadata": {
			`{kind: Service, metadata: {name: s, managedFields: [{manager: m}], labels: {a: b, app: c}, annotations: {mine: x, llamastack.io/config-hash: abc, kubectl.kubernetes.io/last-applied-configuration: "{}"}}}`,
			`{kind: Service, metadata: {name: s, labels: {a: <redacted>, app: c}, annotations: {mine: <redacted>, llamastack.io/config-hash: abc}}}`,
		},
		"pod": {
			`{kind: Pod, spec: {containers: [{name: c, image: i, command: [sh, -c, "x"], args: [--port=1, --y=text, -ptext, text], env: [
			  {name: A, value: text}, {name: HF_HOME, value: /data},
			  {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}`,
			`{kind: Pod, spec: {containers: [{name: c, image: i, command: [sh, -c, <redacted>], args: [--port=1, <redacted>, <redacted>, <redacted>], env: [
			  {name: A, value: <redacted>}, {name: HF_HOME, value: /data},
			  {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}`,
		},
		"stack": {
			`{kind: LlamaStackDistribution, spec: {providers: {inference: {provider: vllm, endpoint: "http://u:p@vllm", apiKey: {secretKeyRef: {name: s, key: k}},
			  settings: {client_secret: x, api_keys: [a, b], max_tokens: 5,
			  headers: {X-Own: text}, name: sk-abcdefghijk, ref: "${env.A}"}}}}}`,
			`{kind: LlamaStackDistribution, spec: {providers: {inference: {provider: vllm, endpoint: "http://<redacted>@vllm", apiKey: {secretKeyRef: {name: s, key: k}},
			  settings: {client_secret: <redacted>, api_keys: [<redacted>, <redacted>], max_tokens: 5,
			  headers: {X-Own: <redacted>}, name: <redacted>, ref: "${env.A}"}}}}}`,
		},
		"credentials in an image and in a webhook": {
			`{kind: LlamaStackDistribution, spec: {distribution: {image: "u:text@quay.io/a/b:1@sha256:0"},
			  providers: {safety: {provider: a, endpoint: "https://hooks.slack.com/services/T00000000/B00000000/texttexttexttexttexttext"}}}}`,
			`{kind: LlamaStackDistribution, spec: {distribution: {image: "<redacted>@sha256:0"},
			  providers: {safety: {provider: a, endpoint: "https://hooks.slack.com/services/T00000000/B00000000/<redacted>"}}}}`,
		},
		"an image with a digest": {
			`{kind: LlamaStackDistribution, spec: {distribution: {image: "quay.io:5000/a/b:1@sha256:0"}}}`,
			`{kind: LlamaStackDistribution, spec: {distribution: {image: "quay.io:5000/a/b:1@sha256:0"}}}`,
		},
		"Route": {
			`{kind: Route, spec: {host: a, tls: {termination: edge, key: text, certificate: text}, path: "/x?sig=text"}}`,
			`{kind: Route, spec: {host: a, tls: {termination: edge, key: <redacted>, certificate: <redacted>}, path: "/x?<redacted>"}}`,
		},
		"status of a pod": {
			`{kind: Pod, status: {phase: Failed, containerStatuses: [{name: c, restartCount: 2, state: {terminated: {reason: Error, exitCode: 1, message: text}}}]}}`,
			`{kind: Pod, status: {phase: Failed, containerStatuses: [{name: c, restartCount: 2, state: {terminated: {reason: Error, exitCode: 1, message: <redacted>}}}]}}`,
		},
		"names of files are not names of fields": {
			`{kind: ConfigMap, metadata: {name: c}, data: {image-overrides: "a: text", stores: "a: {type: text}"}}`,
			`{apiVersion: null, kind: ConfigMap, metadata: {name: c}, data: {image-overrides: "a: <redacted>\n", stores: "a:\n    type: <redacted>\n"}}`,
		},
		"ConfigMap of the operator": {
			`{kind: ConfigMap, metadata: {name: llama-stack-operator-config}, data: {image-overrides: "a: quay.io/x", bounds: "- {stacks: 1, new: text}"}}`,
			`{apiVersion: null, kind: ConfigMap, metadata: {name: llama-stack-operator-config}, data: {image-overrides: "a: quay.io/x\n", bounds: "- new: <redacted>\n  stacks: 1\n"}}`,
		},
		"definition": {
			`{kind: CustomResourceDefinition, metadata: {name: d}, spec: {versions: [{schema: {properties: {annotations: {type: object}, env: {type: array}}}}]}}`,
			`{apiVersion: null, kind: CustomResourceDefinition, metadata: {name: d}, spec: {versions: [{schema: {properties: {annotations: {type: object}, env: {type: array}}}}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := new(redact.Known).Object(parse(t, tc.in))
			if diff := cmp.Diff(parse(t, tc.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The value of a secret field is also replaced in all other places.
func TestLearn(t *testing.T) {
	var known redact.Known
	for _, text := range []string{
		`{kind: Secret, data: {a: ` + base64.StdEncoding.EncodeToString([]byte("value-of-a-secret")) + `}, stringData: {b: plain-of-a-secret}}`,
		`{kind: ConfigMap, data: {a: "{api_token: value-of-a-config}"}}`,
		`{kind: Pod, metadata: {annotations: {x: value-of-an-annotation}}, spec: {containers: [{env: [{name: A, value: value-of-a-variable}]}]}}`,
	} {
		known.Learn(parse(t, text))
	}
	got := known.Text("value-of-a-secret plain-of-a-secret value-of-a-config value-of-an-annotation value-of-a-variable value-of-others")
	if want := strings.Repeat("<redacted> ", 5) + "value-of-others"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestConfig(t *testing.T) {
	const certificate = `-----BEGIN CERTIFICATE-----
MIIBIjCByaADAgECAgEBMAoGCCqGSM49BAMCMAAwHhcNMDEwOTA5MDE0NjQwWhcN
-----END CERTIFICATE-----
`
	for name, tc := range map[string]struct{ in, want string }{
		"empty":             {"", ""},
		"a word":            {canary, "<redacted: 16 bytes>"},
		"not YAML":          {"a: [", "<redacted: 4 bytes>"},
		"not a certificate": {certificate, "<redacted: 119 bytes>"},
		"a list":            {"[1, {password: x}]", "- <redacted>\n- password: <redacted>\n"},
		"default":           {"{password: '${env.A:=text}', token: '${env.A}'}", "password: ${env.A:=<redacted>}\ntoken: ${env.A}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := new(redact.Known).Config(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
