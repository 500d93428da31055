package stackconfig_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func generate(t testing.TB, spec string, base []byte) (*stackconfig.Result, *stackconfig.Report) {
	t.Helper()
	return stackconfig.Generate(stackconfig.Input{
		Intent: readIntent(t, []byte("metadata: {name: demo, namespace: team-a}\nspec:\n  "+strings.ReplaceAll(spec, "\n", "\n  "))),
		Base:   parseBase(t, base), Release: release.Default(), Published: true,
	})
}

// The base does not change when its values are replaced, disabled or moved in the result.
func TestBaseIsNotChanged(t *testing.T) {
	base := parseBase(t, starter(t))
	plain := stackconfig.Input{Intent: readIntent(t, []byte("metadata: {name: demo}\nspec: {networking: {port: 9000}}")), Base: base, Release: release.Default()}
	before, _ := stackconfig.Generate(plain)
	for _, spec := range []string{
		"disabled: [safety, inference/openai]",
		"storage: {kv: {type: redis, endpoint: cache}, sql: {type: postgres, connectionString: {secretKeyRef: {name: a, key: b}}}}",
		"providers: {inference: {provider: openai}, vectorIo: {provider: faiss, settings: {x: 1}}}",
		"resources: {models: [a], shields: [b], tools: [{name: c, mcpEndpoint: 'http://d'}]}",
	} {
		in := readIntent(t, []byte("metadata: {name: demo}\nspec: {"+spec+"}"))
		if result, report := stackconfig.Generate(stackconfig.Input{
			Intent: in, Base: base,
			Release: release.Default(),
		}); result == nil {
			t.Fatal(intent.Messages(report.Errors))
		}
	}
	if after, _ := stackconfig.Generate(plain); !bytes.Equal(before.Config, after.Config) {
		t.Errorf("after other runs:\n%s", after.Config)
	}
}

// The header is a comment even if the name contains a line break. It does not contain the digest of the image.
func TestHeader(t *testing.T) {
	in := readIntent(t, []byte("metadata: {name: demo}\nspec: {distribution: {image: \"registry/image:1@sha256:abc\"}}"))
	in.Name = "a\nb: c"
	result, _ := stackconfig.Generate(stackconfig.Input{
		Intent: in, Base: parseBase(t, []byte("providers: {}")),
		Release: release.Default(),
	})
	want := "# LlamaStackDistribution: a?b: c\n# Distribution: registry/image:1\n# Server release: 0.7\n# Generated. Change the LlamaStackDistribution, not this file.\n"
	if got := string(result.Config[:len(want)]); got != want {
		t.Errorf("header\n%s", got)
	}
}

// The copy of a user's own configuration has the same values, except for the number of workers and the certificate.
func TestOverrideCopy(t *testing.T) {
	for data, want := range map[string]string{
		"# mine\nserver: {port: 9000}\nx: yes\n": "server: {port: 9000, workers: 4}\nx: yes\n",
		"version: 99\n":                          "version: 99\nserver:\n  workers: 4\n",
		"server:\n  workers: 1\n  port: 8321\n":  "server:\n  workers: 4\n  port: 8321\n",
	} {
		got, err := stackconfig.OverrideCopy([]byte(data), intent.Server{Workers: 4})
		if err != nil || string(got) != want {
			t.Errorf("%q gives %q, %v", data, got, err)
		}
	}
	own := []byte("server: {tls_certfile: /mine.crt, tls_cafile: /ca.crt, insecure: true, workers: 3}\n")
	want := "server: {tls_certfile: /etc/llama-stack-tls/tls.crt, tls_cafile: /ca.crt, insecure: true, workers: 3, " +
		"tls_keyfile: /etc/llama-stack-tls/tls.key}\n"
	got, err := stackconfig.OverrideCopy(own, intent.Server{Workers: 1, TLS: &intent.TLS{SecretName: "a"}})
	if err != nil || string(got) != want {
		t.Errorf("with a certificate %q, %v", got, err)
	}
	for data, want := range map[string]string{
		"server: 1": "override config: server must be a mapping, got a scalar",
		"[":         "override config: is not YAML: yaml: line 1: did not find expected node content",
		"[a]":       "override config: must be a mapping, got a list",
	} {
		if _, err := stackconfig.OverrideCopy([]byte(data), intent.Server{Workers: 4}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func TestServesTLS(t *testing.T) {
	for config, want := range map[string]bool{
		"server: {tls_certfile: a, tls_keyfile: b}": true, "server: {tls_certfile: a}": false, "server: {tls_keyfile: b}": false,
		"server: {tls_certfile: a, tls_keyfile: null}": false, "server: 1": false, "[": false, "{}": false, "[a]": false,
	} {
		if got := stackconfig.ServesTLS([]byte(config)); got != want {
			t.Errorf("%s: %t", config, got)
		}
	}
}

func TestPathVariables(t *testing.T) {
	want := []stackconfig.EnvVar{
		{Name: "FILES_STORAGE_DIR", Value: "/.llama/distributions/starter/files"},
		{Name: "MILVUS_DB_PATH", Value: "/.llama/distributions/starter"},
		{Name: "SQLITE_STORE_DIR", Value: "/.llama/distributions/starter"},
	}
	if got := stackconfig.PathVariables(release.Default(), "starter", "/.llama"); !slices.Equal(got, want) {
		t.Errorf("starter has %+v", got)
	}
	if got := stackconfig.PathsIn(starter(t), "/.llama/"); !slices.Equal(got, want) {
		t.Errorf("the starter's text has %+v", got)
	}
	if got := stackconfig.PathVariables(release.Default(), "nobody", "/.llama"); got != nil {
		t.Errorf("an unknown distribution has %+v", got)
	}
	if got := stackconfig.PathsIn([]byte("a: ${env.A:=~/.ogx} ${env.A:=~/.ogx/b} ${env.B:=/data} ${env.C:=~/.ogx-other/c}"), "/data"); !slices.Equal(got, []stackconfig.EnvVar{{Name: "A", Value: "/data"}}) {
		t.Errorf("text has %+v", got)
	}
}

// A stack has the same registry for any list of resources.
func TestOneRegistryForAnyResources(t *testing.T) {
	const redis = "storage: {kv: {type: redis, endpoint: \"r:1\"}}\n"
	registry := func(spec string) (string, stackconfig.Registry) {
		result, report := generate(t, spec, starter(t))
		if result == nil {
			t.Fatal(intent.Messages(report.Errors))
		}
		_, metadata, _ := strings.Cut(string(result.Config), "    metadata:\n")
		metadata, _, _ = strings.Cut(metadata, "    inference:\n")
		return metadata, *result.Registry
	}
	for _, tc := range []struct{ name, spec, want, namespace string }{
		{name: "a file", want: "      namespace: registry\n      backend: kv_default\n"},
		{
			name: "a shared store", spec: redis, namespace: "registry/team-a/demo",
			want: "      namespace: ${env.LLS_REGISTRY:=registry/team-a/demo}\n      backend: kv_default\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, resources := range []string{
				"", "resources: {models: [a]}", "resources: {models: [a]}\nnetworking: {port: 9000}", "resources: {models: [b]}",
				"resources: {models: [{name: a, contextLength: 5}]}", "resources: {models: [{name: a, provider: openai}]}",
			} {
				place, found := registry(tc.spec + resources)
				if place != tc.want || found.Namespace != tc.namespace {
					t.Errorf("%q: the registry is %q, %+v", resources, place, found)
				}
			}
		})
	}
}

// A base can read the namespace of its registry from a variable. The namespace then has no reference to LLS_REGISTRY,
// because a reference cannot contain another reference.
func TestRegistryInANamespaceOfAVariable(t *testing.T) {
	base := strings.Replace(string(starter(t)), "      namespace: registry\n", "      namespace: ${env.MINE:=own}\n", 1)
	base = strings.Replace(base, "type: kv_sqlite", "type: kv_redis", 1)
	result, report := generate(t, "", []byte(base))
	if result == nil {
		t.Fatal(intent.Messages(report.Errors))
	}
	if want := "      namespace: ${env.MINE:=own}/team-a/demo\n"; !strings.Contains(string(result.Config), want) || result.Registry.Namespace != "" {
		t.Errorf("%+v, and no %q in\n%s", result.Registry, want, result.Config)
	}
}

// When the first resource adds the storage section to a base without file names, the stack keeps the files that the
// server creates by default. It also keeps the files of a running stack.
func TestFilesOfABaseWithoutStorage(t *testing.T) {
	base := []byte("version: 2\ndistro_name: mine\napis: [inference]\nproviders: {inference: [{provider_id: a, provider_type: 'remote::vllm', config: {base_url: 'http://v/v1'}}]}\n")
	required := *release.Default()
	required.Storage.Required = true
	for _, tc := range []struct {
		name, running string
		release       *release.Release
		want          string
	}{
		{name: "a new stack", release: release.Default(), want: "${env.SQLITE_STORE_DIR:=~/.llama/distributions}"},
		{name: "a running stack", release: release.Default(), running: "/data", want: "/data"},
		{name: "a release that requires the section", release: &required, want: "${env.SQLITE_STORE_DIR:=~/.llama/distributions/mine}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			result, report := stackconfig.Generate(stackconfig.Input{
				Intent: readIntent(t, []byte("metadata: {name: demo}\nspec: {resources: {models: [m]}}\n")),
				Base:   parseBase(t, base), Release: tc.release, Directory: tc.running,
			})
			if result == nil {
				t.Fatal(intent.Messages(report.Errors))
			}
			if want := "      db_path: " + tc.want + "/kvstore.db\n"; !strings.Contains(string(result.Config), want) {
				t.Errorf("no %q in\n%s", want, result.Config)
			}
		})
	}
}

// External providers are added to a user's own configuration, and nothing else changes.
func TestOverrideExternal(t *testing.T) {
	const spec = "metadata: {name: demo}\nspec: {externalProviders: {inference: [{providerId: a, image: i, config: {k: 1}}, " +
		"{providerId: b, image: i, secretRefs: {k: {secretKeyRef: {name: s, key: t}}}}], safety: [{providerId: c, image: i}]}}"
	override := func(data, spec string) (*stackconfig.Result, *stackconfig.Report) {
		return stackconfig.OverrideExternal(stackconfig.Input{
			Intent: readIntent(t, []byte(spec)), Base: parseBase(t, []byte(data)), Release: release.Default(), Published: true,
			Packages: map[string]*externalprovider.Package{"a": {
				API: "inference", Type: "remote::a", Module: "a", ConfigSchema: map[string]any{
					"type": "object", "properties": map[string]any{"k": map[string]any{"type": "integer"}},
				},
			}},
		})
	}
	result, report := override("# mine\nwrong: [x]\napis: [inference]\nproviders:\n  inference:\n  - {provider_id: b, provider_type: x}\n  other: []\n", spec)
	if result == nil {
		t.Fatal(intent.Messages(report.Errors))
	}
	const want = `wrong: [x]
apis:
- inference
- safety
providers:
  inference:
  - provider_id: b
    provider_type: external::unknown
    config:
      k: ${env.LLSD_B_K}
  - provider_id: a
    provider_type: remote::a
    module: a
    config:
      k: 1
  other: []
  safety:
  - provider_id: c
    provider_type: external::unknown
`
	if diff := cmp.Diff(want, string(result.Config)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	variables := []stackconfig.EnvVar{{
		Name: "LLSD_B_K", SecretName: "s", SecretKey: "t", FieldPath: "spec.externalProviders.inference[1].secretRefs[k].secretKeyRef",
	}}
	if diff := cmp.Diff(variables, result.Env); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if len(result.External) != 3 || result.External[0].Module != "a" || len(report.Warnings) != 1 ||
		!report.Warnings[0].Overrides {
		t.Errorf("external %v, warnings %v", result.External, report.Warnings)
	}
	_, report = override("providers: {}", strings.NewReplacer("k: 1", "k: x", "providerId: c, image: i", "providerId: c, image: i, config: {v: '${env.V}'}").Replace(spec))
	const refused = "spec.externalProviders.inference[0].config.k: must be a whole number, found text\n" +
		"spec.externalProviders.safety[0].config.v: the variable V is not set, and the server does not start without it: " +
		"set it in spec.secretEnv or spec.workload.overrides.env, or give it a default, ${env.V:=…}"
	if diff := cmp.Diff(refused, intent.Messages(report.Errors)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
