package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

func externals() []intent.ExternalProvider {
	return []intent.ExternalProvider{
		{
			API: "inference", ID: "checked", Image: "example.com/checked:1",
			Config: map[string]any{"url": "http://a", "n": json.Number("1")},
		},
		{API: "inference", ID: "labeled", Image: "example.com/labeled:1"},
		{API: "safety", ID: "bare", Image: "example.com/bare:1"},
		{API: "safety", ID: "unread", Image: "example.com/unread:1"},
	}
}

// withExternals returns an input with external providers. The parameter `found` contains the facts about the images of
// these providers, keyed by provider ID.
func withExternals(t *testing.T, external []intent.ExternalProvider, found map[string]*plan.ExternalImage) plan.Input {
	t.Helper()
	in := input(t, "disabled: [eval]\n")
	in.Intent.External = external
	in.Packages, in.PackageDigests = map[string]*externalprovider.Package{}, map[string]string{}
	for id, image := range found {
		if image.Package != nil {
			in.Packages[id] = image.Package
		}
		if image.Digest != "" {
			in.PackageDigests[id] = image.Digest
		}
	}
	return in
}

// recall returns the facts in a record about the images of external providers, keyed by ID.
func recall(t *testing.T, record rollout.Record, external []intent.ExternalProvider) map[string]*plan.ExternalImage {
	t.Helper()
	known := map[string]*plan.ExternalImage{}
	for i := range external {
		image, err := plan.RecordedImage(record.External, &external[i])
		if err != nil {
			t.Fatal(err)
		}
		if image != nil {
			known[external[i].ID] = image
		}
	}
	return known
}

// The facts about the images of external providers are written to the record and read from it, so that the operator
// does not read the images again. A record that is written from recorded facts does not change.
func TestExternalImagesAreRecorded(t *testing.T) {
	schema := map[string]any{"type": "object"}
	found := map[string]*plan.ExternalImage{
		"checked": {Digest: "sha256:1", Package: &externalprovider.Package{
			Name: "a", API: "inference", Type: "remote::a", Module: "a.b", ConfigSchema: schema,
		}},
		"labeled": {Digest: "sha256:2", Package: &externalprovider.Package{Name: "b", API: "inference", Type: "inline::b", Module: "b"}},
		"bare":    {Digest: "sha256:3"},
	}
	record := build(t, withExternals(t, externals(), found)).Rendered.Record
	want := map[string]*plan.ExternalImage{
		"checked": {Digest: "sha256:1", Package: &externalprovider.Package{
			API: "inference", Type: "remote::a", Module: "a.b", ConfigSchema: map[string]any{},
		}},
		"labeled": {Digest: "sha256:2", Package: &externalprovider.Package{API: "inference", Type: "inline::b", Module: "b"}},
		"bare":    {Digest: "sha256:3"},
		"unread":  {},
	}
	got := recall(t, record, externals())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	again := build(t, withExternals(t, externals(), got)).Rendered.Record
	if diff := cmp.Diff(record.External, again.External); diff != "" {
		t.Errorf("recorded again (-first +second):\n%s", diff)
	}
}

// The facts about the recorded image do not apply to a changed image or ID. Settings that differ from the settings that
// were checked against the schema are marked as changed.
func TestChangesOfExternalProviders(t *testing.T) {
	found := map[string]*plan.ExternalImage{
		"checked": {Digest: "sha256:1", Package: &externalprovider.Package{API: "inference", Type: "remote::a", Module: "a", ConfigSchema: map[string]any{"a": 1}}},
		"bare":    {Digest: "sha256:3"},
	}
	record := build(t, withExternals(t, externals(), found)).Rendered.Record
	for name, tc := range map[string]struct {
		change func(all []intent.ExternalProvider)
		id     string
		known  bool
		told   bool
	}{
		"nothing":                  {func([]intent.ExternalProvider) {}, "checked", true, false},
		"image":                    {func(all []intent.ExternalProvider) { all[0].Image += "0" }, "checked", false, false},
		"id":                       {func(all []intent.ExternalProvider) { all[0].ID = "another" }, "another", false, false},
		"setting":                  {func(all []intent.ExternalProvider) { all[0].Config = map[string]any{"url": "http://b"} }, "checked", true, true},
		"number":                   {func(all []intent.ExternalProvider) { all[0].Config["n"] = json.Number("2") }, "checked", true, true},
		"key of a Secret":          {func(all []intent.ExternalProvider) { all[0].Secrets = []intent.SecretKey{{Key: "token"}} }, "checked", true, true},
		"setting without a schema": {func(all []intent.ExternalProvider) { all[2].Config = map[string]any{"a": 1} }, "bare", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			changed := externals()
			tc.change(changed)
			got := recall(t, record, changed)[tc.id]
			if (got != nil) != tc.known || got != nil && got.Changed != tc.told {
				t.Errorf("got %+v, want known %t, with metadata %t", got, tc.known, tc.told)
			}
		})
	}
}
