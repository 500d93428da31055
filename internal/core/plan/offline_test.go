package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// A part that needs the internet is reported for any source of the configuration, but not for a stack with internet
// access.
func TestOfflineWarnings(t *testing.T) {
	override := func(data string) func(*plan.Input) {
		return func(in *plan.Input) { in.Override.Data = []byte("version: 2\ndistro_name: mine\n" + data) }
	}
	const s3 = "providers: {files: [{provider_id: s3, provider_type: \"remote::s3\", config: {bucket_name: a, region: b, metadata_store: {table_name: a, backend: sql}}}]}\n"
	for name, tt := range map[string]struct {
		spec  string
		input func(*plan.Input)
		want  []string // prefixes
	}{
		"not offline": {spec: "distribution: {name: starter}\n"},
		"the image's own configuration": {spec: "offline: true\n", want: []string{
			"spec.offline: providers in the base configuration call public services",
			"spec.offline: these providers in the base configuration download files",
			`spec.offline: vector_stores.default_embedding_model: the server downloads the model "nomic-ai/nomic-embed-text-v1.5"`,
			`spec.offline: vector_stores.default_reranker_model: the server downloads the model "Qwen/Qwen3-Reranker-0.6B"`,
		}},
		"an unknown image": {spec: "distribution: {image: \"example.com/mine:1\"}\noffline: true\n", want: []string{
			`spec.offline: the server's configuration in image "example.com/mine:1" is unknown`,
		}},
		"an override": {
			spec: "overrideConfig: {configMapName: mine}\noffline: true\n", input: override(s3),
			want: []string{"spec.overrideConfig: providers.files[0]: remote::s3 calls s3.amazonaws.com when the server starts"},
		},
		"an override with an endpoint in the cluster": {
			spec:  "overrideConfig: {configMapName: mine}\noffline: true\n",
			input: override(strings.Replace(s3, "region: b", "region: b, endpoint_url: \"http://minio:9000\"", 1)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, tt.spec)
			if tt.input != nil {
				tt.input(&in)
			}
			got := told(build(t, in).Warnings)
			for i := range got {
				if i < len(tt.want) && strings.HasPrefix(got[i], tt.want[i]) {
					got[i] = tt.want[i]
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// told returns the warnings about parts that need the internet.
func told(warnings []stackconfig.Finding) []string {
	var lines []string
	for _, warning := range warnings {
		line := warning.String()
		if strings.Contains(line, "spec.offline") || strings.Contains(line, "amazonaws") {
			lines = append(lines, line)
		}
	}
	return lines
}

// The release determines the variables. A stack with an unknown release has the variables of the default release.
func TestOfflineVariables(t *testing.T) {
	for spec, want := range map[string]bool{
		"distribution: {name: starter, version: \"0.8\"}\noffline: true\n":       true,
		"distribution: {name: starter, version: \"1.5\"}\noffline: true\n":       false,
		"distribution: {image: \"example.com/mine:1\"}\noffline: true\n":         true,
		"distribution: {name: starter, version: \"0.8\"}\n":                      false,
		"distribution: {name: starter, version: \"0.8\"}\noffline: false\n":      false,
		"distribution: {name: starter}\noverrideConfig: {configMapName: mine}\n": false,
	} {
		objects := text(t, build(t, input(t, spec)).Objects)
		if got := strings.Contains(objects, "LITELLM_LOCAL_MODEL_COST_MAP"); got != want {
			t.Errorf("%s: sets litellm's variable %t, want %t", spec, got, want)
		}
		if got, want := strings.Contains(objects, "HF_HUB_OFFLINE"), strings.Contains(spec, "offline: true"); got != want {
			t.Errorf("%s: sets the hub's variable %t, want %t", spec, got, want)
		}
	}
}

// A variable from a Secret must not be a variable that the operator sets, because only one of the two can apply.
func TestOfflineVariablesAreReserved(t *testing.T) {
	const secret = "secretEnv: {HF_HUB_OFFLINE: {secretKeyRef: {name: a, key: b}}, " + names.EnvTiktokenCache + ": {secretKeyRef: {name: a, key: c}}}\n"
	in := input(t, secret)
	build(t, in)
	in = input(t, secret+"offline: true\nmodelFiles: {persistentVolumeClaim: {claimName: a}, tiktokenCache: b}\n")
	_, err := plan.Build(in)
	for _, name := range []string{"HF_HUB_OFFLINE", names.EnvTiktokenCache} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s from a Secret: got %v, want an error", name, err)
		}
	}
}
