package providers

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	dataFile = "../../core/stackconfig/release/data.zip.zst"
	// keyRow is the complete data row for a new provider key. typeRow and newKeys are the rows for a new provider type.
	keyRow  = `{"name": "draft_tokens", "type": "int", "default": 4, "limits": {"ge": 1}}`
	typeRow = `{"api": "inference", "type": "remote::newcomer", "config": "NewcomerConfig", "endpoint_key": "address",
		"endpoint_path": "/v9", "credential_key": "pass"}`
	newKeys = `{"extra": "ignore", "keys": [
		{"name": "address", "type": "HttpUrl", "required": true},
		 {"name": "pass", "type": "SecretStr | null", "default": null, "secret": true}]}`
)

// archive returns the files of the release data.
func archive(t *testing.T) fs.FS {
	t.Helper()
	packed, err := os.ReadFile(dataFile)
	testutil.Must(t, err)
	decoder, err := zstd.NewReader(nil)
	testutil.Must(t, err)
	defer decoder.Close()
	data, err := decoder.DecodeAll(packed, nil)
	testutil.Must(t, err)
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	testutil.Must(t, err)
	return files
}

// withRows returns the default release with the rows for the new key and the new type.
func withRows(t *testing.T) *release.Release {
	t.Helper()
	data, err := fs.ReadFile(archive(t), "0.7.json")
	testutil.Must(t, err)
	document := map[string]any{}
	testutil.Must(t, json.Unmarshal(data, &document))
	row := func(text string) (value any) {
		testutil.Must(t, json.Unmarshal([]byte(text), &value))
		return value
	}
	providers := document["providers"].(map[string]any)["inference"].(map[string]any)
	classes := document["classes"].(map[string]any)
	vllm := classes[providers["remote::vllm"].(map[string]any)["config"].(string)].(map[string]any)
	vllm["keys"] = append(vllm["keys"].([]any), row(keyRow))
	providers["remote::newcomer"] = row(typeRow)
	classes["NewcomerConfig"] = row(newKeys)
	if data, err = json.Marshal(document); err != nil {
		t.Fatal(err)
	}
	rel, err := release.Decode(data)
	testutil.Must(t, err)
	return rel
}

// A new provider key or provider type requires only rows of data: without changes to the code, `providers` describes
// it, and the other commands validate it and write it to the configuration.
func TestAProviderKeyIsOneRowOfData(t *testing.T) {
	rel := withRows(t)
	for _, tc := range []struct {
		name  string
		rel   *release.Release
		wants string
		want  []string
	}{
		{
			"new key without the row", release.Default(), "provider: vllm, endpoint: 'http://v', settings: {draft_tokens: 5}",
			[]string{"spec.providers.inference.settings.draft_tokens: unknown key"},
		},
		{"written", rel, "provider: vllm, endpoint: 'http://v', settings: {draft_tokens: 5}", []string{" draft_tokens: 5\n"}},
		{"nearest", rel, "provider: vllm, endpoint: 'http://v', settings: {draft_token: 5}", []string{`did you mean "draft_tokens"?`}},
		{"wrong type", rel, "provider: vllm, endpoint: 'http://v', settings: {draft_tokens: many}", []string{"draft_tokens: must be a whole number, found text"}},
		{"out of range", rel, "provider: vllm, endpoint: 'http://v', settings: {draft_tokens: 0}", []string{"draft_tokens: must be"}},
		{"new type", rel, "provider: newcomer, endpoint: 'http://n', apiKey: {secretKeyRef: {name: creds, key: k}}", []string{
			"provider_type: remote::newcomer", "address: http://n/v9\n", "pass: ${env.LLSD_NEWCOMER_API_KEY}\n",
		}},
		{"new type without a required key", rel, "provider: newcomer", []string{"endpoint: required: remote::newcomer does not start without an endpoint"}},
		{"new type without the row", release.Default(), "provider: newcomer", []string{`"newcomer" is not a type of inference provider in release 0.7`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			built := builtWith(t, tc.rel, tc.wants)
			for _, want := range tc.want {
				if !strings.Contains(built, want) {
					t.Errorf("no %q in\n%s", want, built)
				}
			}
			if tc.name == "written" && strings.Contains(built, "warning:") {
				t.Errorf("unexpected warning:\n%s", built)
			}
		})
	}
	var described bytes.Buffer
	writeKeys(&described, chosenTypes(rel, []string{"inference"}, []string{"vllm"}))
	writeTypes(&described, chosenTypes(rel, []string{"inference"}, nil))
	words := strings.Join(strings.Fields(described.String()), " ")
	for _, want := range []string{"draft_tokens int - - 4", "inference remote::newcomer address pass -"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, described.String())
		}
	}
}

// builtWith returns the errors, the warnings and the configuration of a stack with one inference provider.
func builtWith(t *testing.T, rel *release.Release, provider string) string {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	text := "metadata: {name: demo, namespace: default}\nspec: {distribution: {name: starter}, providers: {inference: {" + provider + "}}}"
	testutil.Must(t, yaml.UnmarshalStrict([]byte(text), object))
	starter, _ := rel.Distribution("starter")
	base := []byte(starter.YAML)
	found := dryrun.Outcome{}
	in, _ := intent.FromObject(object)
	built, err := plan.Build(plan.Input{
		Object: object, Intent: in, Base: &plan.Base{Data: base, Source: v1alpha2.ConfigSourceEmbedded},
		Distribution: distribution.Resolved{
			Name: "starter", Image: "starter:1", Release: rel, Exact: true,
			DetectedBy: distribution.ByCatalogue,
		},
	})
	if err != nil {
		found.Refuse(err)
		return strings.Join(found.Errors, "\n")
	}
	found.Warn(built.Warnings)
	for i, warning := range found.Warnings {
		found.Warnings[i] = "warning: " + warning
	}
	return strings.Join(found.Warnings, "\n") + "\n" + string(built.Config)
}
