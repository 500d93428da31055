package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestDeploymentOfAnEarlierSpec checks when the Deployment counts as rendered for an earlier spec.
func TestDeploymentOfAnEarlierSpec(t *testing.T) {
	failure := &status.Failure{}
	for name, tc := range map[string]struct {
		failure  *status.Failure
		deployed bool
		running  int64
		outcome  rollout.Outcome
		want     bool
	}{
		"no failure": {nil, true, 1, rollout.Changed, false},
		"rollback":   {nil, true, 2, rollout.RolledBack, true},
		"failure before the Deployment was applied":         {failure, false, 1, "", true},
		"failure after the Deployment was applied":          {failure, true, 1, rollout.Changed, false},
		"an object of the running configuration is missing": {failure, false, 2, "", false},
		"the generation of the running pods is unknown":     {failure, false, 0, "", true},
	} {
		object := &v1alpha2.LlamaStackDistribution{}
		object.Generation = 2
		s := &state{stack: object}
		s.workload.Record.Generation, s.owned.decision.Outcome = tc.running, tc.outcome
		if tc.deployed {
			s.applied.deployment = &appsv1.Deployment{}
		}
		if got := s.runsEarlier(tc.failure); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// TestServes checks when the settings in the spec apply to the queries that the operator sends to the server.
func TestServes(t *testing.T) {
	paused := &status.Failure{Reason: v1alpha2.ReasonDeploymentPaused}
	for name, tc := range map[string]struct {
		failure  *status.Failure
		deployed bool
		outcome  rollout.Outcome
		want     bool
	}{
		"no failure":                   {nil, true, rollout.Changed, true},
		"failure of a step":            {&status.Failure{Reason: v1alpha2.ReasonInvalidSpec}, true, rollout.Unchanged, false},
		"paused":                       {paused, true, rollout.Unchanged, true},
		"paused with a pending change": {paused, true, rollout.Changed, false},
		"paused without a Deployment":  {paused, false, rollout.Unchanged, false},
		"paused after a rollback":      {paused, true, rollout.RolledBack, true},
	} {
		s := &state{stack: &stack{}}
		s.owned.decision.Outcome = tc.outcome
		if tc.deployed {
			s.workload.Deployment = &appsv1.Deployment{}
		}
		if got := s.serves(tc.failure); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// TestResolvedDistribution checks the image, and the source of its release, in the status.
func TestResolvedDistribution(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want v1alpha2.ResolvedDistribution
	}{
		"image of the catalog": {`{distribution: {name: starter, version: "0.7"}}`, v1alpha2.ResolvedDistribution{
			Name: "starter", Version: "0.7", ImageFrom: v1alpha2.ImageFromCatalogue, ServerRelease: "0.7", ServerReleaseFrom: "catalogue",
		}},
		"release from the tag": {`{distribution: {image: "example.com/mine:0.7.1"}}`, v1alpha2.ResolvedDistribution{
			Image: "example.com/mine:0.7.1", ImageFrom: v1alpha2.ImageFromSpec, ServerRelease: "0.7", ServerReleaseFrom: "image-tag",
		}},
		"unknown release": {`{distribution: {image: "example.com/mine:prod"}}`, v1alpha2.ResolvedDistribution{
			Image: "example.com/mine:prod", ImageFrom: v1alpha2.ImageFromSpec, ServerReleaseFrom: "unknown",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newFixture(t, testutil.NewOperatorConfigMap(operatorconfig.KeyRegistries, "readLabels: false")).runSteps(t,
				testutil.NewStack(t, tc.spec), "plan")
			testutil.Must(t, err)
			tc.want.ConfigSource = s.planned.Plan.ConfigSource
			if tc.want.Image == "" {
				tc.want.Image = s.image.Catalog
			}
			got := s.resolved()
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("resolved (-want +got):\n%s", diff)
			}
			if got.Catalogue() != s.image.Catalog {
				t.Errorf("the image of the catalog is %q, want %q", got.Catalogue(), s.image.Catalog)
			}
		})
	}
}

// TestReportDataLeftBehind checks that the status reports the data that the last applied change left behind, or the
// data that a waiting change leaves behind.
func TestReportDataLeftBehind(t *testing.T) {
	for name, tc := range map[string]struct {
		running, leaves, applied []string
		deployed                 bool
		want                     string
	}{
		"no data":                            {},
		"left behind by the previous change": {running: []string{"a", "b"}, want: "True DataLeftBehind: a\nb"},
		"left behind by a change that waits": {running: []string{"a"}, leaves: []string{"c"}, want: "True DataLeftBehind: c"},
		"left behind by the applied change": {
			running: []string{"a"}, applied: []string{"d"}, deployed: true,
			want: "True DataLeftBehind: d",
		},
		"no data left behind by the applied change": {running: []string{"a"}, deployed: true},
		"left behind by a change that was not applied": {
			running: []string{"a"}, applied: []string{"d"}, want: "True DataLeftBehind: a",
		},
	} {
		s := &state{stack: &stack{}, leaves: tc.leaves}
		s.workload.Record.Left, s.owned.decision.Record.Left = tc.running, tc.applied
		if tc.deployed {
			s.applied.deployment = &appsv1.Deployment{}
		}
		s.reportLeft()
		if got := conditionTexts(&s.report)[v1alpha2.ConditionDataLeftBehind]; got != tc.want {
			t.Errorf("%s: condition %q, want %q", name, got, tc.want)
		}
	}
}

// TestReportDataNotOnVolume checks that the status reports data that is not on the volume: the data of the running pods
// or, before there are pods, of the requested pods.
func TestReportDataNotOnVolume(t *testing.T) {
	const notOnVolume = "True " + v1alpha2.ReasonDataNotOnVolume + ": "
	beside := func(directory string) *retention.Places {
		files := retention.Data{In: []retention.Place{{File: directory}}}
		return &retention.Places{Version: 1, Data: map[string]retention.Data{"files": files}}
	}
	for name, tc := range map[string]struct {
		running, planned *retention.Places
		left             []string
		want             string
	}{
		"the running pods":   {running: beside("/a"), planned: beside("/b"), want: notOnVolume + "spec.workload.storage: the server stores the data of files in /a"},
		"the requested pods": {planned: beside("/b"), want: notOnVolume + "spec.workload.storage: the server stores the data of files in /b"},
		"after a change":     {running: beside("/a"), left: []string{"c"}, want: "True DataLeftBehind: c\nspec.workload.storage: the server stores the data of files in /a"},
		"nothing is known":   {},
	} {
		s := &state{stack: &stack{}, planned: planning.Planned{Plan: &plan.Plan{Places: tc.planned}}}
		s.stack.Spec.Workload = &v1alpha2.WorkloadSpec{Storage: &v1alpha2.VolumeSpec{}}
		s.workload.Record.Places, s.workload.Record.Left = tc.running, tc.left
		s.reportLeft()
		got := conditionTexts(&s.report)[v1alpha2.ConditionDataLeftBehind]
		if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s: condition %q, want %q", name, got, tc.want)
		}
	}
}

// TestReportPaused checks that a pause is reported in addition to the failure of an earlier step.
func TestReportPaused(t *testing.T) {
	for name, tc := range map[string]struct {
		paused  string
		failure *status.Failure
		want    bool
	}{
		"not paused":      {"false", &status.Failure{Condition: v1alpha2.ConditionValidationSucceeded}, false},
		"earlier failure": {"true", &status.Failure{Condition: v1alpha2.ConditionValidationSucceeded}, true},
		"same condition":  {"true", &status.Failure{Condition: v1alpha2.ConditionDeploymentUpdated}, false},
	} {
		s := &state{stack: &stack{}}
		s.stack.Annotations = map[string]string{names.AnnotationPaused: tc.paused}
		s.reportPaused(tc.failure)
		if got := s.report.Has(v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused); got != tc.want {
			t.Errorf("%s: condition of the pause: %t, want %t", name, got, tc.want)
		}
	}
}
