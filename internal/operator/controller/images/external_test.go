package images

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	externalSpec = `
distribution: {name: starter}
externalProviders:
  inference: [{providerId: mine, image: "example.com/mine:1", config: {url: "http://a"}},
    {providerId: bare, image: "example.com/bare:1"}]
`
	metadata = `
apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata: {name: mine, version: "1.0", vendor: us}
spec: {packageName: mine.provider, providerType: "remote::mine", api: inference}
`
)

// encodeLabel returns the value of a label with this text.
func encodeLabel(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// TestExternalImages checks that the step uses recorded metadata, and starts to read the other images. In this test, no
// registry responds, so no read finishes.
func TestExternalImages(t *testing.T) {
	settings, err := rollout.ExternalSettings(map[string]any{"url": "http://a"}, nil)
	testutil.Must(t, err)
	known := func(change func(all []rollout.External)) rollout.Record {
		all := []rollout.External{
			{
				ID: "mine", Image: rollout.ExternalImage("example.com/mine:1"), Digest: "sha256:1", API: "inference",
				Type: "remote::mine", Module: "mine", Settings: settings,
			},
			{ID: "bare", Image: rollout.ExternalImage("example.com/bare:1")},
		}
		change(all)
		return rollout.Record{External: all}
	}
	reading := func(images string) *status.Failure {
		return &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonReadingExternalProviders, Unknown: true,
			Retry:   status.OnReferenceChange,
			Message: "The operator is reading the labels of " + images + " of external providers",
		}
	}
	mine := map[string]*externalprovider.Package{
		"mine": {API: "inference", Type: "remote::mine", Module: "mine", ConfigSchema: map[string]any{}},
	}
	for name, tc := range map[string]struct {
		spec     string
		switched bool // readLabels is off
		running  rollout.Record
		packages map[string]*externalprovider.Package
		digests  map[string]string
		unread   *status.Failure
	}{
		"no external providers":      {spec: `{distribution: {name: starter}}`},
		"new images":                 {spec: externalSpec, unread: reading("2 images")},
		"new images, reading is off": {spec: externalSpec, switched: true},
		"recorded images":            {spec: externalSpec, running: known(func([]rollout.External) {}), packages: mine, digests: map[string]string{"mine": "sha256:1"}},
		"one new image":              {spec: externalSpec, running: known(func(all []rollout.External) { all[0].Image = "another" }), unread: reading("1 image")},
		"new settings":               {spec: externalSpec, running: known(func(all []rollout.External) { all[0].Settings = "another" }), packages: mine, digests: map[string]string{"mine": "sha256:1"}, unread: reading("1 image")},
		"new settings, reading is off": {
			spec: externalSpec, switched: true, running: known(func(all []rollout.External) { all[0].Settings = "another" }),
			packages: mine, digests: map[string]string{"mine": "sha256:1"},
		},
		"two providers with the same image": {spec: strings.ReplaceAll(externalSpec, "bare:1", "mine:1"), unread: reading("1 image")},
	} {
		t.Run(name, func(t *testing.T) {
			own := testutil.NewStack(t, tc.spec)
			config := ""
			if tc.switched {
				config = "readLabels: false"
			}
			spec, _, _, errs := validate.Stored(own)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			settings, _ := operatorconfig.Read(testutil.NewOperatorConfigMap(operatorconfig.KeyRegistries, config),
				operatorconfig.Config{})
			image, err := Resolve(own, &facts.Running{Record: tc.running}, settings, nil)
			testutil.Must(t, err)
			report := &report.Report{}
			got, err := newReader(t).External(own, spec, &image, &facts.Running{Record: tc.running}, report)
			checkFailure(t, err, tc.unread)
			if len(got.Packages)+len(tc.packages) > 0 {
				if diff := cmp.Diff(tc.packages, got.Packages); diff != "" {
					t.Errorf("packages (-want +got):\n%s", diff)
				}
			}
			if fmt.Sprint(tc.digests) != fmt.Sprint(got.Digests) {
				t.Errorf("digests %v, want %v", got.Digests, tc.digests)
			}
			if len(report.Events) > 0 {
				t.Errorf("events %v", report.Events)
			}
		})
	}
}

// TestReadExternalImages checks that the metadata of an image is used, that a failed read is reported once, and that an
// image without a label is valid.
func TestReadExternalImages(t *testing.T) {
	read := func(label string) registry.Outcome {
		return registry.Outcome{Image: &registry.Image{Digest: "sha256:1", Provider: label}}
	}
	const remedy = ". Until you change the images in the spec, each pod determines the type and the module of these providers when the pod starts"
	mine := &externalprovider.Package{
		Name: "mine", Version: "1.0", Vendor: "us", API: "inference", Type: "remote::mine",
		Module: "mine.provider",
	}
	down := registry.Outcome{Err: errors.New("down")}
	for name, tc := range map[string]struct {
		outcomes map[string]registry.Outcome
		want     External
		note     string
	}{
		"valid label": {
			outcomes: map[string]registry.Outcome{"a": read(encodeLabel(metadata))},
			want:     External{map[string]*externalprovider.Package{"a": mine}, map[string]string{"a": "sha256:1"}},
		},
		"no label": {
			outcomes: map[string]registry.Outcome{"a": read("")},
			want:     External{map[string]*externalprovider.Package{}, map[string]string{"a": "sha256:1"}},
		},
		"invalid label": {
			outcomes: map[string]registry.Outcome{"a": read(encodeLabel("kind: Pod"))},
			want:     External{map[string]*externalprovider.Package{}, map[string]string{"a": "sha256:1"}},
			note: `The labels of external providers' images cannot be read: "a": label io.llamastack.provider: lls-provider-spec.yaml: ` +
				`line 1: apiVersion is missing` + remedy,
		},
		"failed read": {
			outcomes: map[string]registry.Outcome{"a": down},
			want:     External{map[string]*externalprovider.Package{}, map[string]string{}},
			note:     `The labels of external providers' images cannot be read: "a": down` + remedy,
		},
		"many failed reads": {
			outcomes: map[string]registry.Outcome{
				"a": {Err: errors.New(strings.Repeat("long ", 1000))}, "b": down, "c": down,
				"d": down, "e": read("***"),
			},
			want: External{map[string]*externalprovider.Package{}, map[string]string{"e": "sha256:1"}},
			note: `The labels of external providers' images cannot be read: "a": ` + strings.Repeat("long ", 1000)[:237] + `…; "b": down; "c": down; and 2 more` +
				remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var unread []externalImage
			for _, id := range []string{"a", "b", "c", "d", "e"} {
				if _, ok := tc.outcomes[id]; ok {
					unread = append(unread, externalImage{id, id})
				}
			}
			got := External{map[string]*externalprovider.Package{}, map[string]string{}}
			if note := got.addRead(unread, tc.outcomes); note != tc.note {
				t.Errorf("note %q\nwant %q", note, tc.note)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}
