package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// older returns a v1alpha1 document.
func older(spec string) string {
	return strings.Replace(stack(spec), "v1alpha2", "v1alpha1", 1)
}

func TestRenderOlder(t *testing.T) {
	const configMap = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {run.yaml: \"{image_name: a, providers: {}, storage: {" +
		"backends: {k: {type: kv_sqlite, db_path: /k}, s: {type: sql_sqlite, db_path: /s}}, stores: {metadata: {backend: k, namespace: a}, " +
		"inference: {backend: s, table_name: a}, conversations: {backend: s, table_name: b}}}}\"}\n"
	got := run(t, older(`{server: {distribution: {name: null, image: "example.com/server:0.3.5"}, `+
		`containerSpec: {name: mine, port: 9000, env: [{name: A, value: b}]}, userConfig: {configMapName: mine}}}`)+configMap,
		"render", "-f", "-", "-o", "env")
	got.mustExit(t, 0)
	contains(t, got.out, "name: A", `value: "9000"`, "/etc/llama-stack/run.yaml")
	config := run(t, older(`{server: {distribution: {name: starter}, userConfig: {configMapName: mine}}}`)+configMap,
		"render", "-f", "-", "-o", "config")
	if want := "# demo: the server uses ConfigMap \"mine\" unchanged; the operator generates no configuration.\n"; config.out != want {
		t.Errorf("the configuration is %q, want %q", config.out, want)
	}
	if want := `spec.server.userConfig.configMapName: ConfigMap "mine" has no key "config.yaml"`; !strings.Contains(got.err, want) {
		t.Errorf("no %q in\n%s", want, got.err)
	}
}

// validateOlderCases are the cases of TestValidateOlder.
var validateOlderCases = map[string]struct {
	manifest string
	code     int
	want     []string
}{
	"no distribution": {
		older(`{server: {containerSpec: {image: rh-dev}}, providers: {}, apis: [inference]}`), 1, []string{
			"error: standard input: demo: spec.server.distribution: required",
			"spec.server.containerSpec.image: unknown field; did you mean spec.server.distribution.image?",
			"spec.providers: unknown field; did you mean spec.server.providers?",
			"spec.apis: unknown field; known fields: network, replicas, server",
		},
	},
	"number in place of a string": {
		older(`{server: {distribution: {name: starter}, containerSpec: {env: [{name: A, value: b}, {name: B, value: 123}]}}}`), 1,
		[]string{"spec.server.containerSpec.env[1].value: must be text, got a number; quote it"},
	},
	"neither name nor image": {
		older(`{server: {distribution: {}}}`), 1, []string{"error: standard input: demo: spec.server.distribution: set either name (a known distribution, for example starter) or image"},
	},
	"values that the API server does not validate": {
		older(`{network: {allowedFrom: {namespaces: [nsA]}}, server: {distribution: {name: starter}, storage: {mountPath: data}}}`), 0,
		[]string{
			`warning: standard input: demo: spec.network.allowedFrom.namespaces[0]: "nsA" is not a valid namespace name`,
			`warning: standard input: demo: spec.server.storage.mountPath: "data" is not an absolute path`,
		},
	},
	"fields that the API server requires": {
		older(`{server: {distribution: {name: starter}, userConfig: {configMapNamespace: shared}, autoscaling: {minReplicas: 1}, tlsConfig: {caBundle: {configMapName: null}}, ` +
			`containerSpec: {env: [{value: a}, {name: B, valueFrom: {secretKeyRef: {name: s}}}]}, podOverrides: {volumeMounts: [{name: a}]}}}`), 1,
		[]string{
			"error: standard input: demo: spec.server.autoscaling.maxReplicas: required", "error: standard input: demo: spec.server.userConfig.configMapName: required",
			"error: standard input: demo: spec.server.tlsConfig.caBundle.configMapName: required", "error: standard input: demo: spec.server.containerSpec.env[0].name: required",
			"error: standard input: demo: spec.server.containerSpec.env[1].valueFrom.secretKeyRef.key: required",
			"error: standard input: demo: spec.server.podOverrides.volumeMounts[0].mountPath: required",
		},
	},
	"fields that the API server does not require": {
		older(`{server: {distribution: {name: starter}, podOverrides: {volumes: [{name: a, projected: {}}]}}}`), 0, nil,
	},
	"a disabled userConfig": {older(`{server: {distribution: {name: starter}, userConfig: {configMapName: ""}}}`), 0, nil},
	"maxReplicas less than replicas": {
		older(`{replicas: 4, server: {distribution: {name: starter}, autoscaling: {maxReplicas: 2}}}`), 0,
		[]string{"warning: standard input: demo: spec.server.autoscaling.maxReplicas: 2 is less than spec.replicas, which is 4: the autoscaler of a v1alpha1 stack does not scale below the value of replicas, " +
			"so the maximum is 4; raise maxReplicas or lower replicas"},
	},
	"missing key of a ConfigMap": {
		older(`{server: {distribution: {name: starter}, userConfig: {configMapName: mine}}}`) +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {other.yaml: a}\n", 1,
		[]string{`error: standard input: demo: spec.server.userConfig.configMapName: ConfigMap "mine" has no key "config.yaml"; ` +
			"add the key to the ConfigMap, or use one of its keys: "},
	},
	"userConfig together with disabled": {
		older(`{server: {distribution: {name: starter}, userConfig: {configMapName: mine}, disabled: [eval]}}`), 1,
		[]string{`error: standard input: demo: spec.server.disabled: cannot be combined with server.userConfig, which sets the complete configuration (ConfigMap "mine"): remove disabled or server.userConfig`},
	},
	"autoscaling without a maximum": {
		older(`{server: {distribution: {name: starter}, autoscaling: {maxReplicas: 0}}}`), 0,
		[]string{"warning: standard input: demo: spec.server.autoscaling.maxReplicas: a value below 1 disables autoscaling"},
	},
	"unknown name": {older(`{server: {distribution: {name: rh-dev}}}`), 1, []string{`unknown distribution "rh-dev"`}},
	"ConfigMap of another namespace": {
		older(`{server: {distribution: {name: starter}, userConfig: {configMapName: mine, configMapNamespace: shared}}}`) +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: shared}\ndata: {config.yaml: 'a: b'}\n", 1,
		[]string{`spec.server.userConfig: the stack cannot use ConfigMap "mine" in namespace "shared"; add the namespace "default" to the annotation llamastack.io/allow-namespaces on the ConfigMap`},
	},
	"ConfigMap that exists only in the namespace of the stack": {
		older(`{server: {distribution: {name: starter}, userConfig: {configMapName: mine, configMapNamespace: shared}}}`) +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {config.yaml: '{distro_name: a, providers: {}}'}\n", 0,
		[]string{`warning: standard input: demo: spec.server.userConfig.configMapName: either ConfigMap "mine" does not exist in namespace "shared", or the operator has no access to it, ` +
			`or its annotation llamastack.io/allow-namespaces does not contain the namespace "default"; the operator therefore uses the ConfigMap with the same name in namespace "default"`},
	},
	"ConfigMap that is not in the files": {
		older(`{server: {distribution: {name: starter}, userConfig: {configMapName: gone}}}`), 1,
		[]string{`spec.server.userConfig.configMapName: the files do not contain ConfigMap "gone" in namespace "default"`},
	},
}

// Errors about a v1alpha1 manifest contain the v1alpha1 field names.
func TestValidateOlder(t *testing.T) {
	for name, tc := range validateOlderCases {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.manifest, "validate", "-f", "-")
			got.exits(t, tc.code)
			contains(t, got.err, tc.want...)
		})
	}
}

// render --explain shows the v1alpha1 field names for a v1alpha1 manifest.
func TestExplainOlder(t *testing.T) {
	got := run(t, older(`{server: {distribution: {name: starter}, workers: 2, resources: {models: [m]},
  providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", config: {max_tokens: 100}}}}}`),
		"render", "-f", "-", "--explain")
	contains(t, got.out,
		"spec.server.providers.inference.endpoint", "spec.server.workers", "spec.server.resources.models[0] (first inference provider)",
		"spec.server.providers.inference.settings.max_tokens")
}

// The bundle contains the certificates from the ConfigMap that the spec names, and from the platform's ConfigMap, if
// these ConfigMaps are in the files. The bundle does not contain private keys.
func TestRenderOlderTrust(t *testing.T) {
	one, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	two := testutil.CertificateFor(t, "platform")
	configMap := func(name string, data ...[]byte) string {
		text, err := json.Marshal(string(bytes.Join(data, nil)))
		testutil.Must(t, err)
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {ca-bundle.crt: " + string(text) + "}\n"
	}
	platform := configMap("odh-trusted-ca-bundle", two)
	for name, tc := range map[string]struct {
		manifest string
		trusts   [][]byte
	}{
		"platform": {older(`{server: {distribution: {name: starter}}}`) + platform, [][]byte{two}},
		"both": {
			older(`{server: {distribution: {name: starter}, tlsConfig: {caBundle: {configMapName: mine}}}}`) + platform + configMap("mine", one, key),
			[][]byte{one, two},
		},
	} {
		got := run(t, tc.manifest, "render", "-f", "-", "-o", "objects")
		got.mustExit(t, 0, name)
		rendered := strings.ReplaceAll(got.out, " ", "")
		for _, certificate := range tc.trusts {
			if line := strings.Split(string(certificate), "\n")[2]; !strings.Contains(rendered, line) {
				t.Errorf("%s: the bundle does not contain a certificate", name)
			}
		}
		if strings.Contains(got.out, "PRIVATE KEY") || strings.Contains(got.err, strings.Split(string(key), "\n")[1]) {
			t.Errorf("%s: the output contains the private key", name)
		}
		if told := strings.Contains(got.err, "warning: standard input: demo: spec.server.tlsConfig.caBundle.configMapName: key \"ca-bundle.crt\" of ConfigMap \"mine\": line"); told != (name == "both") {
			t.Errorf("%s: warning about the private key: got %t, want %t\n%s", name, told, !told, got.err)
		}
	}
}
