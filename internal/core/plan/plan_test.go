package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const samples = "../../../config/samples"

// input returns a stack with the given spec, and the facts that would be read for it.
func input(t *testing.T, spec string) plan.Input {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	object.Name, object.Namespace, object.UID, object.Generation = "demo", "team-a", "demo-uid", 1
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	return complete(t, object)
}

func complete(t testing.TB, object *v1alpha2.LlamaStackDistribution) plan.Input {
	t.Helper()
	if object.Spec.Distribution == (v1alpha2.DistributionSpec{}) {
		object.Spec.Distribution.Name = "starter"
	}
	wanted := object.Spec.Distribution
	resolved, err := distribution.Resolve(wanted.Name, wanted.Image, wanted.Version, nil)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _ := intent.FromObject(object)
	in := plan.Input{
		Object: object, Intent: decoded, Distribution: resolved, CatalogueImage: resolved.Image,
		OperatorVersion: "v1",
	}
	if resolved.Base != nil {
		in.Base = &plan.Base{Data: resolved.Base, Source: v1alpha2.ConfigSourceEmbedded}
	}
	if override := object.Spec.OverrideConfig; override != nil {
		in.Override = &plan.Override{
			ConfigMapName: override.ConfigMapName, Key: "server.yaml",
			Data: []byte("# mine\nversion: 2\ndistro_name: mine\nproviders: {}\nserver: {port: 9000}\n"),
		}
	}
	return in
}

func build(t *testing.T, in plan.Input) *plan.Plan {
	t.Helper()
	built, err := plan.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// text returns every object as YAML.
func text(t *testing.T, objects []render.Object) string {
	t.Helper()
	var b strings.Builder
	for _, object := range objects {
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.Marshal(sent.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "---\n%s", data)
	}
	return b.String()
}

func kinds(objects []render.Object) string {
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GVK.Kind+" "+object.Name)
	}
	return strings.Join(kinds, ", ")
}

func container(t *testing.T, built *plan.Plan) corev1ac.ContainerApplyConfiguration {
	t.Helper()
	return built.Rendered.Deployment.Spec.Template.Spec.Containers[0]
}

// environment returns a container's variables as NAME=value or NAME@secret/key.
func environment(container corev1ac.ContainerApplyConfiguration) []string {
	var result []string
	for _, variable := range container.Env {
		switch {
		case variable.Value != nil:
			result = append(result, *variable.Name+"="+*variable.Value)
		case variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil:
			ref := variable.ValueFrom.SecretKeyRef
			result = append(result, *variable.Name+"@"+*ref.Name+"/"+*ref.Key)
		}
	}
	return result
}

func TestBuildImageDefault(t *testing.T) {
	built := build(t, input(t, `distribution: {name: starter}`))
	if built.Mode != plan.ModeImageDefault || built.ConfigSource != v1alpha2.ConfigSourceImageDefault {
		t.Errorf("mode %s, source %s", built.Mode, built.ConfigSource)
	}
	if built.Config != nil || built.ConfigHash != "" || built.ConfigMapName != "" || built.BaseConfigMapName != "" ||
		built.Report != nil {
		t.Errorf("a configuration is mounted: %+v", built)
	}
	if got := kinds(built.Objects); got != "ServiceAccount demo-sa, Deployment demo, Service demo-service" {
		t.Errorf("objects %s", got)
	}
	for _, variable := range environment(container(t, built)) {
		if strings.Contains(variable, "/etc/llama-stack") {
			t.Errorf("%s refers to a file that is not mounted", variable)
		}
	}
}

func TestBuildGenerated(t *testing.T) {
	in := input(t, `
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama3.2-8b]}
`)
	built := build(t, in)
	if built.Mode != plan.ModeGenerated || built.ConfigSource != v1alpha2.ConfigSourceEmbedded {
		t.Errorf("mode %s, source %s", built.Mode, built.ConfigSource)
	}
	wantObjects := fmt.Sprintf("ConfigMap %s, ConfigMap demo-startup, ServiceAccount demo-sa, Deployment demo, Service demo-service",
		built.ConfigMapName)
	if got := kinds(built.Objects); got != wantObjects {
		t.Errorf("objects %s", got)
	}
	want := rollout.ConfigMapName("demo", built.ConfigHash, plan.BaseHash(in.Base.Data))
	if built.ConfigMapName != want || built.BaseConfigMapName != want {
		t.Errorf("ConfigMap %q with the base in %q, want %q", built.ConfigMapName, built.BaseConfigMapName, want)
	}
	if !strings.Contains(string(built.Config), "http://vllm:8000/v1") || built.ProviderCount == 0 ||
		built.ResourceCount != 1 || built.ConfigVersion != "2" || built.Report == nil {
		t.Errorf("%d providers, %d resources, version %q, config:\n%s",
			built.ProviderCount, built.ResourceCount, built.ConfigVersion, built.Config)
	}
	if sent := text(t, built.Objects); !strings.Contains(sent, "\n  "+names.RegistryProgram+": |") {
		t.Errorf("no program registers the resources:\n%s", sent)
	}
	env := environment(container(t, built))
	for _, want := range []string{
		"LLSD_VLLM_API_KEY@vllm-creds/token", "RUN_CONFIG_PATH=/etc/llama-stack/config.yaml", "LLAMA_STACK_PORT=8321",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %v", want, env)
		}
	}
	if got := built.Rendered.Record; got.Image != in.Distribution.Image || got.ConfigHash != built.ConfigHash ||
		got.Distribution.Name != "starter" || got.Distribution.Release != "0.7" || got.UID != "demo-uid" ||
		got.Generation != 1 ||
		got.Template == "" || got.OperatorVersion != "v1" || got.BaseConfigMap != built.BaseConfigMapName {
		t.Errorf("record %+v", got)
	}
}

// TestBaseApart checks which ConfigMap keeps the base: that of the configuration, another one if the two are too large,
// and none if the base is in a user's ConfigMap.
func TestBaseApart(t *testing.T) {
	long := "\nextra: " + strings.Repeat("a", render.MaxConfig/2)
	for name, tc := range map[string]struct {
		more   string
		source v1alpha2.ConfigSource
		want   string
	}{
		"together":                {"", v1alpha2.ConfigSourceEmbedded, "demo-config-"},
		"too large together":      {long, v1alpha2.ConfigSourceEmbedded, "demo-base-"},
		"in the user's ConfigMap": {long, v1alpha2.ConfigSourceConfigMap, ""},
	} {
		in := input(t, "resources: {models: [m]}")
		in.Base.Data, in.Base.Source = append(slices.Clone(in.Base.Data), tc.more...), tc.source
		built := build(t, in)
		record := built.Rendered.Record
		for _, object := range built.Objects {
			if configMap, ok := object.Apply.(*corev1ac.ConfigMapApplyConfiguration); ok {
				kept := configMap.Data[names.BaseFile]
				if (kept == string(in.Base.Data)) != (object.Name == built.BaseConfigMapName) {
					t.Errorf("%s: ConfigMap %s has a base of %d bytes", name, object.Name, len(kept))
				}
			}
		}
		if !strings.HasPrefix(built.BaseConfigMapName, tc.want) || (tc.want == "") != (built.BaseConfigMapName == "") ||
			record.BaseConfigMap != built.BaseConfigMapName || record.Base != plan.BaseHash(in.Base.Data) {
			t.Errorf("%s: base in %q, record %+v", name, built.BaseConfigMapName, record)
		}
	}
}

// The pods run the image with the digest that was read. The record contains the facts about the image for a later
// build.
func TestBuildFromLabels(t *testing.T) {
	in := input(t, `disabled: [eval]`)
	in.Distribution.Image, in.Distribution.Label = "example.com/own:prod", "0.7.3"
	in.Digest, in.Base.Source = "sha256:abc", v1alpha2.ConfigSourceOCILabel
	built := build(t, in)
	got := built.Rendered.Record
	if got.Image != "example.com/own:prod@sha256:abc" || container(t, built).Image == nil ||
		*container(t, built).Image != got.Image {
		t.Errorf("the pods run %q", got.Image)
	}
	if got.Distribution.Image != "example.com/own:prod" || got.Distribution.Digest != "sha256:abc" ||
		got.Distribution.Label != "0.7.3" ||
		got.BaseSource != string(v1alpha2.ConfigSourceOCILabel) {
		t.Errorf("record %+v", got)
	}
	in.Distribution.Image = "example.com/own@sha256:def"
	if got := build(t, in).Rendered.Record.Image; got != in.Distribution.Image {
		t.Errorf("the digest of the spec became %q", got)
	}
}

func TestBuildOverride(t *testing.T) {
	in := input(t, `overrideConfig: {configMapName: mine, key: server.yaml}`)
	built := build(t, in)
	if built.Mode != plan.ModeOverride || built.ConfigSource != v1alpha2.ConfigSourceOverride ||
		built.ConfigMapName != "mine" || built.Config != nil || len(built.ConfigHash) != 64 {
		t.Errorf("plan %+v", built)
	}
	if got := kinds(built.Objects); got != "ServiceAccount demo-sa, Deployment demo, Service demo-service" {
		t.Errorf("objects %s", got)
	}
	in.Override.Data = append(in.Override.Data, "# more\n"...)
	if got := build(t, in).ConfigHash; got == built.ConfigHash {
		t.Error("different content has the same hash")
	}
}

// The probes use the server's protocol, wherever its certificate comes from. To a server that requires TLS, the
// operator passes --insecure only if the server has no certificate and its configuration is not generated.
func TestTLS(t *testing.T) {
	const (
		tls      = "networking: {tls: {enabled: true, secretName: cert}}\n"
		override = "overrideConfig: {configMapName: mine, key: server.yaml}\n"
		own      = "server: {tls_certfile: /a, tls_keyfile: /b}\n"
	)
	for name, tc := range map[string]struct {
		spec, override string
		mode           plan.Mode
		scheme, args   string
		mounted        bool
	}{
		"image default": {"", "", plan.ModeImageDefault, "HTTP", "[--insecure]", false},
		"generated":     {"disabled: [eval]", "", plan.ModeGenerated, "HTTP", "[]", false},
		"certificate":   {tls, "", plan.ModeGenerated, "HTTPS", "[]", true},
		"override":      {override, "", plan.ModeOverride, "HTTP", "[--insecure]", false},
		"override in a copy": {
			override + "workload: {workers: 2}", "", plan.ModeOverride, "HTTP", "[--insecure]",
			false,
		},
		"override, certificate":                        {override + tls, "", plan.ModeOverride, "HTTPS", "[]", true},
		"override with its own certificate":            {override, own, plan.ModeOverride, "HTTPS", "[]", false},
		"override with its own certificate, in a copy": {override + "workload: {workers: 2}", own, plan.ModeOverride, "HTTPS", "[]", false},
		"base with its own certificate": {
			"baseConfig: {configMapName: b}", own, plan.ModeGenerated, "HTTPS", "[]", false,
		},
		"the user's arguments": {
			"workload: {overrides: {args: [a]}}", "", plan.ModeImageDefault, "HTTP", "[a]", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, tc.spec)
			match, err := release.Lookup("1.2")
			if err != nil {
				t.Fatal(err)
			}
			in.Distribution.Release = match.Release
			in.Base = &plan.Base{Data: []byte("distro_name: d\nproviders: {}\n")}
			if tc.override != "" {
				in.Base.Data = append(in.Base.Data, tc.override...)
				if in.Override != nil {
					in.Override.Data = in.Base.Data
				}
			}
			built := build(t, in)
			c := container(t, built)
			scheme := string(*c.ReadinessProbe.HTTPGet.Scheme)
			if built.Mode != tc.mode || scheme != tc.scheme || string(*c.StartupProbe.HTTPGet.Scheme) != tc.scheme ||
				built.ServesTLS != (tc.scheme == "HTTPS") || c.LivenessProbe.TCPSocket == nil {
				t.Errorf("mode %s, scheme of the probes %s, serves TLS: %t", built.Mode, scheme, built.ServesTLS)
			}
			if got := fmt.Sprint(c.Args); got != tc.args {
				t.Errorf("arguments %s, want %s", got, tc.args)
			}
			mounted := slices.ContainsFunc(c.VolumeMounts, func(m corev1ac.VolumeMountApplyConfiguration) bool {
				return *m.MountPath == "/etc/llama-stack-tls" && *m.ReadOnly
			})
			if mounted != tc.mounted {
				t.Errorf("a certificate is mounted: %t", mounted)
			}
		})
	}
}

func TestPathsLeadToTheVolume(t *testing.T) {
	const storage = "workload: {storage: {mountPath: /data}}\n"
	for name, tc := range map[string]struct {
		spec string
		base string
		want []string
	}{
		"image default": {storage, "", []string{"HOME=/data", "SQLITE_STORE_DIR=/data/distributions/starter"}},
		"generated":     {storage + "disabled: [eval]\n", "", []string{"SQLITE_STORE_DIR=/data/distributions/starter"}},
		"the user's own base": {
			storage + "disabled: [eval]\nbaseConfig: {configMapName: base}\n",
			"version: 2\ndistro_name: mine\napis: []\nproviders: {}\nexternal_providers_dir: ${env.MY_DIR:=~/.llama/mine}\n",
			[]string{"MY_DIR=/data/mine", "SQLITE_STORE_DIR=/data/distributions/starter"},
		},
		"published image": {
			storage + "distribution: {image: \"docker.io/ogxai/distribution-nvidia:1.5.0\"}\n", "",
			[]string{"OGX_CONFIG_DIR=/data/.llama", "SQLITE_STORE_DIR=/data/distributions/nvidia", "FILES_STORAGE_DIR=/data/distributions/nvidia/files"},
		},
		"the user's own image": {
			storage + "distribution: {image: \"example.com/mine:1\"}\n", "",
			[]string{"OGX_CONFIG_DIR=/data/.llama", "SQLITE_STORE_DIR=/data/distributions/starter"},
		},
		"an added provider": {
			storage + "providers: {vectorIo: [{id: mine, provider: \"inline::chromadb\"}]}\n", "",
			[]string{"CHROMADB_PATH=/data/distributions/starter/chroma"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, tc.spec)
			if tc.base != "" {
				in.Base = &plan.Base{Data: []byte(tc.base), Source: v1alpha2.ConfigSourceConfigMap}
			}
			env := environment(container(t, build(t, in)))
			for _, want := range tc.want {
				if !slices.Contains(env, want) {
					t.Errorf("no %s in %v", want, env)
				}
			}
		})
	}
	for _, variable := range environment(container(t, build(t, input(t, `distribution: {name: starter}`)))) {
		if strings.HasPrefix(variable, "SQLITE_STORE_DIR") {
			t.Errorf("%s is set without a volume", variable)
		}
	}
}

// TestDirectoriesAreMade checks that the pod creates a directory that the server does not create itself.
func TestDirectoriesAreMade(t *testing.T) {
	for spec, want := range map[string]string{
		"networking: {port: 9000}":                             "",
		"storage: {kv: {type: redis, endpoint: 'redis:6379'}}": `mkdir -p "${SQLITE_STORE_DIR:-`,
	} {
		sent := text(t, build(t, input(t, spec)).Objects)
		if made := strings.Contains(sent, "initContainers"); made != (want != "") || !strings.Contains(sent, want) {
			t.Errorf("%s: an init container: %t, with %q: %t", spec, made, want, strings.Contains(sent, want))
		}
	}
}

func TestSecretEnvReachesEveryMode(t *testing.T) {
	const secretEnv = "secretEnv: {MY_TOKEN: {secretKeyRef: {name: mine, key: token}}}\n"
	for _, rest := range []string{
		"", "disabled: [eval]\n", "overrideConfig: {configMapName: mine, key: server.yaml}\n",
	} {
		built := build(t, input(t, secretEnv+rest))
		env := environment(container(t, built))
		if count := strings.Count(strings.Join(env, " "), "MY_TOKEN@mine/token"); count != 1 {
			t.Errorf("%s: MY_TOKEN is set %d times: %v", built.Mode, count, env)
		}
	}
}

func TestWithStorageSecret(t *testing.T) {
	built := build(t, input(t, `
storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}
`))
	if len(built.Derived) == 0 {
		t.Fatal("nothing is derived")
	}
	if got := kinds(built.WithStorageSecret(map[string][]byte{"a": []byte("b")})); !strings.Contains(got, ", Secret demo-storage, ServiceAccount demo-sa") {
		t.Errorf("objects %s", got)
	}
	if got := kinds(built.Objects); strings.Contains(got, "Secret demo-storage") {
		t.Errorf("the plan contains the Secret: %s", got)
	}
	without := build(t, input(t, `distribution: {name: starter}`))
	if got := kinds(without.WithStorageSecret(nil)); strings.Contains(got, "Secret ") {
		t.Errorf("an unnecessary Secret: %s", got)
	}
}

// The same input produces the same bytes. The objects are decoded again each time, so that the iteration order of maps
// differs.
func TestBuildIsDeterministic(t *testing.T) {
	for _, path := range samplePaths(t) {
		var first string
		for i := range 100 {
			built := build(t, complete(t, sample(t, path)))
			written, err := built.Rendered.Record.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, built.Objects) + written
			if i == 0 {
				first = got
			}
			if got != first {
				t.Fatalf("%s: run %d differs", path, i)
			}
		}
	}
}

func TestBuildOnlyReadsItsInput(t *testing.T) {
	for _, path := range samplePaths(t) {
		in := complete(t, sample(t, path))
		before, base := in.Object.DeepCopy(), string(in.Base.Data)
		build(t, in)
		if diff := cmp.Diff(before, in.Object); diff != "" {
			t.Errorf("%s: the object changed:\n%s", path, diff)
		}
		if string(in.Base.Data) != base {
			t.Errorf("%s: the base changed", path)
		}
	}
}

func samplePaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(samples, "v1alpha2-*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found %d samples, error %v", len(paths), err)
	}
	return paths
}

func sample(t *testing.T, path string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		if strings.Contains(document, "\nkind: LlamaStackDistribution\n") {
			object := &v1alpha2.LlamaStackDistribution{}
			if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
				t.Fatal(err)
			}
			return object
		}
	}
	t.Fatalf("no stack in %s", path)
	return nil
}

// The program that registers resources does not run with release 0.2.
func TestNoProgramForTheOldestRelease(t *testing.T) {
	const spec = "distribution: {name: starter, version: \"0.2\"}\nstorage: {sql: {type: sqlite}}\n"
	if got := kinds(build(t, input(t, spec)).Objects); strings.Contains(got, names.Startup("demo")) {
		t.Errorf("objects %s", got)
	}
}
