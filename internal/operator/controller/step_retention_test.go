package controller

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestRetentionOfData checks that data that a change leaves behind is reported once, and that a change that would
// permanently lose data waits.
func TestRetentionOfData(t *testing.T) {
	const (
		onVolume = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`
		onRedis  = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}, storage: {kv: {type: redis, endpoint: "redis://redis:6379"}}}`
		wildcard = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}, disabled: ["vector_io/*"]}`
		required = `{distribution: {name: starter, baseProviders: Required}, workload: {storage: {size: 1Gi}}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`
		older    = `{distribution: {name: starter, version: "0.3"}, workload: {storage: {size: 1Gi}}}`
		newer    = `{distribution: {name: starter, version: "0.7"}, workload: {storage: {size: 1Gi}}}`

		left = "spec.storage.kv: the data of batches, prompts, registry, vector_io/faiss, vector_io/sqlite-vec stays in " +
			"the SQLite file /.llama/distributions/starter/kvstore.db on PersistentVolumeClaim my-pvc, and is missing from Redis at redis:6379"
		unserved    = ": the server no longer serves vector stores: the content of vector_io/faiss"
		notRequired = "spec.distribution.baseProviders: the data of batches"
		removed     = "spec.workload.storage: the data of "
		lost        = "spec.distribution: release 0.7 cannot read the data that vector_io/faiss stored under release 0.3, so the server does not start, and no tool converts this data: " +
			"stay on 0.3, or delete the vector stores of that provider through the API (DELETE /v1/vector_stores/ID) and create them again after the change; " +
			"before the change, accept the loss of the remaining data with the annotation llamastack.io/accept-data-loss: \"vector_io/faiss\"\n" +
			"The running pods do not change"
	)
	waits := func(message string) *status.Failure {
		return &status.Failure{
			Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonDataLossNotAccepted,
			Message: message,
		}
	}
	for name, tc := range map[string]retentionCase{
		"no running configuration": {spec: onRedis},
		"no data left behind":      {runs: onVolume, spec: strings.Replace(onVolume, "workload", "disabled: [eval], workload", 1)},
		"no change":                {runs: onRedis, spec: onRedis},
		"data left behind":         {runs: onVolume, spec: onRedis, left: left, event: "Warning DataLeftBehind " + left},
		"all vector stores disabled": {
			runs: onVolume, spec: wildcard, left: "spec.disabled[0]" + unserved,
			event: "Warning DataLeftBehind spec.disabled[0]" + unserved,
		},
		"provider that is not required": {
			runs: onVolume, spec: required, left: notRequired,
			event: "Warning DataLeftBehind " + notRequired,
		},
		"storage removed": {
			runs: onVolume, spec: `{distribution: {name: starter}}`, left: removed, event: "Warning DataLeftBehind " + removed,
		},
		"a change that waits is reverted":            {runs: older, spec: older},
		"already reported":                           {runs: onVolume, spec: onRedis, told: true, left: left},
		"data loss":                                  {runs: older, spec: newer, failure: waits(lost)},
		"data loss, the annotation names other data": {runs: older, spec: newer, accepts: "faiss", failure: waits(lost + `; the annotation llamastack.io/accept-data-loss contains "faiss", which does not name any of the lost data; set the annotation to "vector_io/faiss"`)},
		"accepted data loss": {
			runs: older, spec: newer, accepts: "registry, vector_io/faiss", left: lost[:60],
			event: "Warning DataLeftBehind " + lost[:60],
		},
	} {
		t.Run(name, func(t *testing.T) { checkRetention(t, tc) })
	}
}

// retentionCase is a row of TestRetentionOfData.
type retentionCase struct {
	runs, spec string
	accepts    string
	told       bool // the status reports the data
	left       string
	event      string
	failure    *status.Failure
}

// checkRetention applies the earlier spec, and then runs the steps up to the step retention.
func checkRetention(t *testing.T, tc retentionCase) {
	f := newFixture(t)
	if tc.runs != "" {
		f.applyStack(t, tc.runs)
	}
	own := testutil.NewStack(t, tc.spec)
	own.Generation = 2
	if tc.accepts != "" {
		own.Annotations = map[string]string{names.AnnotationAcceptDataLoss: tc.accepts}
	}
	if tc.told {
		told, err := f.runSteps(t, own, "retention")
		testutil.Must(t, err)
		<-f.recorder.Events
		own.Status.Conditions = []metav1.Condition{{
			Type:    v1alpha2.ConditionDataLeftBehind,
			Message: leftMessage(told.leaves),
		}}
	}
	s, err := f.runSteps(t, own, "retention")
	checkFailure(t, err, tc.failure)
	starts := func(what, got, want string) {
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s %q, want one that begins with %q", what, got, want)
		}
	}
	starts("left", leftMessage(s.leaves), tc.left)
	event := ""
	if len(f.recorder.Events) > 0 {
		event = <-f.recorder.Events
	}
	starts("event", event, tc.event)
	if len(f.writes) > 0 {
		t.Errorf("writes %v", f.writes)
	}
}

// TestDataLeftBehindNote checks that the note of an event contains a part of each line.
func TestDataLeftBehindNote(t *testing.T) {
	short := []string{"one", "two"}
	if diff := cmp.Diff("one\ntwo", leftNote(short)); diff != "" {
		t.Errorf("short lines (-want +got):\n%s", diff)
	}
	long := leftNote([]string{strings.Repeat("a", status.MaxNote), "two", strings.Repeat("c", status.MaxNote)})
	lines := strings.Split(long, "\n")
	if len(long) > status.MaxNote || len(lines) != 3 || lines[1] != "two" || !strings.HasSuffix(lines[2], "c…") {
		t.Errorf("a note of %d bytes with %d lines: %s", len(long), len(lines), long)
	}
}

// TestPlacesWithoutARecord checks that a change does not lose data if the record on the Deployment does not contain the
// places of the data, or is damaged. The running configuration then shows the places.
func TestPlacesWithoutARecord(t *testing.T) {
	const generated = `{distribution: {name: starter, version: "0.3"}, disabled: [eval], workload: {storage: {size: 1Gi}, preflight: Never}}`
	for name, places := range map[string]string{"no places": "", "damaged places": `,"places":{"v":1,"data":"none"}`} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.applyStack(t, generated)
			f.replacePlaces(t, places)
			_, err := f.runSteps(t, testutil.NewStack(t, generated), "retention")
			checkFailure(t, err, nil)
			changed := testutil.NewStack(t, strings.Replace(generated, "0.3", "0.7", 1))
			changed.Generation = 2
			_, err = f.runSteps(t, changed, "retention")
			failure, ok := errors.AsType[*status.Failure](err)
			if !ok || failure.Reason != v1alpha2.ReasonDataLossNotAccepted ||
				failure.Condition != v1alpha2.ConditionDeploymentUpdated {
				t.Errorf("failure %v, want %s", err, v1alpha2.ReasonDataLossNotAccepted)
			}
		})
	}
}

// replacePlaces replaces the places in the record on the Deployment.
func (f *fixture) replacePlaces(t *testing.T, instead string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	testutil.Must(t, f.Get(t.Context(), keyOf(testutil.NewStack(t, `{}`)), deployment))
	rendered, _, found := strings.Cut(deployment.Annotations[names.AnnotationRendered], `,"places":`)
	if !found {
		t.Fatalf("the record has no places: %s", rendered)
	}
	deployment.Annotations[names.AnnotationRendered] = rendered + instead + "}"
	testutil.Must(t, f.Update(t.Context(), deployment))
}
