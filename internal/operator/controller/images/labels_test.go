package images

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	bareImage = `{distribution: {image: "example.com/mine:1"}, resources: {models: [m]}}`
	// replacedImage is a spec with a distribution in the catalog. The operator's configuration replaces the image.
	replacedImage = `{distribution: {name: starter}, resources: {models: [m]}}`
	// workersOnly is a spec that sets only an image and the number of workers. If the operator cannot read the image, a
	// v1alpha1 stack with this spec continues without a base.
	workersOnly = `{distribution: {image: "example.com/mine:1"}, workload: {workers: 2}}`
)

// labelsCase is a stack and the expected result of the step for its image.
type labelsCase struct {
	spec    string
	older   bool      // created as v1alpha1
	config  [2]string // a key of the operator's ConfigMap and its value
	running rollout.Record
	lost    bool // the stored copy of the base is missing
	base    string
	digest  string
	release string
	unread  *status.Failure
}

// labelsCases returns the cases of TestImageLabels by name.
func labelsCases() map[string]labelsCase {
	reading := &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
		Retry: status.OnReferenceChange, Message: `The operator is reading the labels of image "example.com/mine:1"`,
	}
	required := &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigRequired,
		Retry: status.OnReferenceChange,
		Message: `The configuration of image "example.com/mine:1" is unknown, and the operator does not read images, ` +
			"because the key \"registries\" in the operator's configuration sets readLabels to false, or is invalid; set " +
			"spec.baseConfig to a ConfigMap with the image's configuration",
	}
	read := rollout.Record{
		Image: "example.com/mine:1", BaseSource: string(v1alpha2.ConfigSourceOCILabel), BaseConfigMap: "my-base",
		Distribution: rollout.Distribution{Image: "example.com/mine:1", Digest: "sha256:1", Label: "0.7"},
	}
	another := read
	another.Distribution.Image = "example.com/mine:0"
	readByName := read
	readByName.Distribution.Name = "starter"
	alone := rollout.Record{UID: "own", Generation: 3, Distribution: rollout.Distribution{Image: "example.com/mine:1"}}
	earlier := alone
	earlier.Generation = 2
	generated := alone
	generated.ConfigHash = "01"
	embedded := readByName
	embedded.BaseSource = string(v1alpha2.ConfigSourceEmbedded)
	followed := embedded
	embedded.Distribution.Digest = ""
	return map[string]labelsCase{
		"image of the catalog":                  {spec: `{distribution: {name: starter}}`},
		"new image":                             {spec: bareImage, unread: reading},
		"new image, no generated configuration": {spec: `{distribution: {image: "example.com/mine:1"}}`, unread: reading},
		"recorded base":                         {spec: bareImage, running: read, base: "version: 2\n", digest: "sha256:1", release: "0.7"},
		"recorded base, the copy is missing":    {spec: bareImage, running: read, lost: true, unread: reading},
		"recorded base of another image":        {spec: bareImage, running: another, unread: reading},
		"recorded base of the catalog":          {spec: replacedImage, config: [2]string{operatorconfig.KeyImageOverrides, "starter: example.com/mine:1"}, running: embedded, release: "0.7"},
		"recorded image by digest":              {spec: replacedImage, config: [2]string{operatorconfig.KeyImageOverrides, "starter: example.com/mine:1"}, running: followed, digest: "sha256:1", release: "0.7"},
		"reading is off, no base":               {spec: bareImage, config: [2]string{operatorconfig.KeyRegistries, "readLabels: false"}, unread: required},
		"reading is off, base in the spec":      {spec: `{distribution: {image: "example.com/mine:1"}, baseConfig: {configMapName: mine}, resources: {models: [m]}}`, config: [2]string{operatorconfig.KeyRegistries, "readLabels: false"}},
		"reading is off, recorded base":         {spec: bareImage, config: [2]string{operatorconfig.KeyRegistries, "readLabels: false"}, running: read, base: "version: 2\n", digest: "sha256:1", release: "0.7"},
		"reading is off, the copy is missing":   {spec: bareImage, config: [2]string{operatorconfig.KeyRegistries, "readLabels: false"}, running: read, lost: true, unread: required},
		"only workers":                          {spec: workersOnly, unread: reading},
		"only workers, started without a base":  {spec: workersOnly, running: alone, unread: reading},
		"v1alpha1, only workers":                {spec: workersOnly, older: true, unread: reading},
		"v1alpha1, started without a base":      {spec: workersOnly, older: true, running: alone},
		"v1alpha1, changed spec":                {spec: workersOnly, older: true, running: earlier, unread: reading},
		"v1alpha1, generated configuration":     {spec: workersOnly, older: true, running: generated, unread: reading},
		"v1alpha1, reading is off":              {spec: workersOnly, older: true, config: [2]string{operatorconfig.KeyRegistries, "readLabels: false"}},
	}
}

// newReader returns a reader for a cluster with these objects.
func newReader(t *testing.T, objects ...client.Object) *Reader {
	t.Helper()
	c := fake.NewClientBuilder().WithObjects(objects...).Build()
	return New(c, resolve.NewConfigMaps(c, c).KeptBase, nil, registry.PoolOptions{})
}

// checkFailure compares the error of a step with a failure. Nil means that the step must not fail.
func checkFailure(t *testing.T, err error, want *status.Failure) {
	t.Helper()
	got, _ := errors.AsType[*status.Failure](err)
	diff := cmp.Diff(want, got, cmpopts.IgnoreFields(status.Failure{}, "Err"))
	if diff != "" || (got == nil) != (err == nil) {
		t.Errorf("error %v; failure (-want +got):\n%s", err, diff)
	}
}

// eventTexts returns the type, reason and note of each event in a report.
func eventTexts(r *report.Report) []string {
	var events []string
	for _, e := range r.Events {
		events = append(events, e.Type+" "+e.Reason+": "+e.Note)
	}
	return events
}

// TestImageLabels checks that the step uses the recorded content of an image's labels, or starts to read the image. In
// this test, no registry responds, so no read finishes.
func TestImageLabels(t *testing.T) {
	for name, tc := range labelsCases() {
		t.Run(name, func(t *testing.T) {
			own := testutil.NewStack(t, tc.spec)
			own.UID, own.Generation = "own", 3
			if tc.older {
				own.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
			}
			var objects []client.Object
			if !tc.lost {
				objects = append(objects, &corev1.ConfigMap{
					ObjectMeta: testutil.ChildMeta(own, "my-base"), Data: map[string]string{names.BaseFile: "version: 2\n"},
				})
			}
			config, _ := operatorconfig.Read(testutil.NewOperatorConfigMap(tc.config[0], tc.config[1]), operatorconfig.Config{})
			image, err := Resolve(own, &facts.Running{Record: tc.running}, config, nil)
			testutil.Must(t, err)
			report := &report.Report{}
			got, err := newReader(t, objects...).Labels(t.Context(), own, &image, &facts.Running{Record: tc.running}, report)
			testutil.Must(t, err)
			checkFailure(t, got.Unread, tc.unread)
			release := ""
			if got.Distribution.DetectedBy == distribution.ByLabel {
				release = got.Distribution.Release.Line
			}
			if diff := cmp.Diff([]string{tc.base, tc.digest, tc.release},
				[]string{string(got.Config), got.Digest, release}); diff != "" {
				t.Errorf("configuration, digest, release (-want +got):\n%s", diff)
			}
			if len(report.Events) > 0 {
				t.Errorf("events %v", report.Events)
			}
		})
	}
}

// TestUnreadableImage checks that the operator uses its own copy of the configuration for an image that it cannot read,
// and creates an event. The copy never replaces a configuration from a label.
func TestUnreadableImage(t *testing.T) {
	resolved, err := distribution.Resolve("starter", "", "", distribution.Overrides{"starter": "example.com/mine:1"})
	testutil.Must(t, err)
	none := resolved
	none.Base = nil
	cause := errors.New("the registry does not respond")
	wants := &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable,
		Retry:   status.OnReferenceChange,
		Unknown: registry.Transient(cause),
		Message: "The configuration of the image cannot be read: " + cause.Error() + ". The operator tries again; to use another base configuration, set spec.baseConfig",
	}
	for name, tc := range map[string]struct {
		spec    string
		older   bool // created as v1alpha1
		image   distribution.Resolved
		running rollout.Record
		events  []string
		failure *status.Failure
	}{
		"the image's own configuration": {spec: `{distribution: {image: "example.com/mine:1"}}`, image: none},
		"the user's base":               {spec: `{distribution: {image: "example.com/mine:1"}, baseConfig: {configMapName: mine}, resources: {models: [m]}}`, image: none},
		"no base":                       {spec: bareImage, image: none, failure: wants},
		"only workers":                  {spec: workersOnly, image: none, failure: wants},
		"only workers of v1alpha1": {spec: workersOnly, older: true, image: none, events: []string{
			`Warning ImageLabelsUnreadable: The labels of image "example.com/mine:1" cannot be read: the registry does not respond; the server uses the image's own configuration, ` +
				"and spec.workload.workers has no effect. To let the operator read the image, add a pull Secret to " +
				"spec.workload.overrides.imagePullSecrets, or correct the key \"registries\" in the operator's " +
				"configuration. The operator reads the image again when the spec changes",
		}},
		"only workers of v1alpha1, the running base is from a label": {
			spec: workersOnly, older: true, image: none,
			running: rollout.Record{BaseSource: string(v1alpha2.ConfigSourceOCILabel)}, failure: wants,
		},
		"the operator's own copy of the base": {spec: replacedImage, image: resolved, events: []string{
			`Warning ImageLabelsUnreadable: The labels of image "example.com/mine:1" cannot be read: the registry does not respond; the operator uses its own copy ` +
				`of the "starter" configuration for release ` + resolved.Release.Line + " until the image, name or version in spec.distribution changes. To let the operator read the image after such a change, add a pull Secret to " +
				"spec.workload.overrides.imagePullSecrets, or correct the key \"registries\" in the operator's configuration; " +
				"to use another base configuration, set spec.baseConfig",
		}},
		"the running base is from a label": {
			spec: replacedImage, image: resolved,
			running: rollout.Record{BaseSource: string(v1alpha2.ConfigSourceOCILabel)}, failure: wants,
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := &report.Report{}
			own := testutil.NewStack(t, tc.spec)
			if tc.older {
				own.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
			}
			checkFailure(t, unreadable(own, &tc.image, &tc.running, report, cause), tc.failure)
			if diff := cmp.Diff(tc.events, eventTexts(report)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreadableImageIsReadAgain checks that the message about an unreadable image states when the operator reads it
// again.
func TestUnreadableImageIsReadAgain(t *testing.T) {
	const lasting = "The operator reads the image again when its name, the digest of its tag, or the key \"registries\" in the operator's configuration changes"
	for name, tc := range map[string]struct {
		cause   error
		unknown bool
		when    string
	}{
		"invalid label":                {&registry.LabelError{Label: registry.LabelBase64, Err: errors.New("the value is not base64")}, false, lasting},
		"registry that is not allowed": {&registry.RefusedError{Repository: "example.com/mine"}, false, lasting},
		"no response":                  {errors.New("the host did not respond in time"), true, "The operator tries again"},
		"long error":                   {errors.New(strings.Repeat("x", 10_000)), true, "The operator tries again"},
	} {
		t.Run(name, func(t *testing.T) {
			none, err := distribution.Resolve("", "example.com/mine:1", "", nil)
			testutil.Must(t, err)
			err = unreadable(testutil.NewStack(t, bareImage), &none, &rollout.Record{}, &report.Report{}, tc.cause)
			checkFailure(t, err, &status.Failure{
				Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable,
				Retry: status.OnReferenceChange, Unknown: tc.unknown,
				Message: "The configuration of the image cannot be read: " + status.Note(tc.cause.Error()) + ". " + tc.when + "; to use another base configuration, set spec.baseConfig",
			})
		})
	}
}

// TestUnsupportedVersionOfAnImage checks that a stack that needs a base fails if the label of its image names an
// unsupported version of config.yaml. The stack fails even if the operator has its own copy of the distribution's
// configuration, because the image contains a different configuration.
func TestUnsupportedVersionOfAnImage(t *testing.T) {
	resolved, err := distribution.Resolve("starter", "", "", distribution.Overrides{"starter": "example.com/mine:1"})
	testutil.Must(t, err)
	cause := &registry.LabelError{Label: registry.LabelConfigVersion, Err: baseconfig.CheckVersion("3")}
	wants := &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonUnsupportedConfigVersion,
		Retry: status.OnReferenceChange,
		Message: `The configuration of the image is not used: label "io.llamastack.config.version": ` +
			"Unsupported config.yaml version 3. Supported versions: 1, 2; to use another base configuration, set spec.baseConfig",
	}
	for spec, failure := range map[string]*status.Failure{
		bareImage: wants, replacedImage: wants,
		`{distribution: {name: starter}}`: nil,
	} {
		report := &report.Report{}
		checkFailure(t, unreadable(testutil.NewStack(t, spec), &resolved, &rollout.Record{}, report, cause), failure)
		if told := eventTexts(report); len(told) > 0 {
			t.Errorf("%s: events %q", spec, told)
		}
	}
}
