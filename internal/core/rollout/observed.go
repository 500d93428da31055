package rollout

import (
	"encoding/json"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// The Deployment controller sets revisionAnnotation and revisionHistoryAnnotation on ReplicaSets. They contain the
	// current revision of a ReplicaSet, and the revisions that it had before rollbacks to it.
	revisionAnnotation        = "deployment.kubernetes.io/revision"
	revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history"
	// restartAnnotation is the annotation that `kubectl rollout restart` sets in a template.
	restartAnnotation = "kubectl.kubernetes.io/restartedAt"
)

// maxPast is the maximum size, in bytes, of an annotation that Past returns. It does not limit records, of which Past
// returns a part.
const maxPast = 4 << 10

// Past returns the annotations of a ReplicaSet that Decide and package status read. A record grows with its stack, and
// tenants can create ReplicaSets with any record, so Past returns only the parts of a long one that Decide compares.
func Past(annotations map[string]string) map[string]string {
	var kept map[string]string
	for _, name := range []string{names.AnnotationRendered, revisionAnnotation, revisionHistoryAnnotation} {
		value, ok := annotations[name]
		if ok && name == names.AnnotationRendered && len(value) > maxPast {
			value, ok = brief(annotations)
		}
		if !ok || len(value) > maxPast {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
}

// brief returns the parts of a record that Decide compares with the record of the Deployment.
func brief(annotations map[string]string) (string, bool) {
	whole, ok := Parse(annotations)
	if !ok {
		return "", false
	}
	value, err := json.Marshal(Record{
		UID: whole.UID, Generation: whole.Generation, Inputs: whole.Inputs, TemplateInputs: whole.TemplateInputs,
		ReferenceKey: whole.ReferenceKey,
	})
	return string(value), err == nil
}

// observed holds the live objects and the rendering.
type observed struct {
	live *appsv1.Deployment
	// record is the record on the live Deployment. It is valid if recorded is true.
	record   Record
	recorded bool
	// byPredecessor reports whether another operator wrote the template, even if the template contains this operator's
	// annotations.
	byPredecessor bool
	// inputs is the digest of the inputs in the live template's annotation.
	inputs string
	// past holds the ReplicaSets of the live Deployment.
	past     []revision
	rendered Rendered
}

// revision is a ReplicaSet of the Deployment.
type revision struct {
	number int64
	// again reports whether the Deployment returned to this ReplicaSet at least once.
	again bool
	// inputs is the digest of the inputs in the annotation of its template.
	inputs string
	// record is the record that the Deployment had while this revision was its newest ReplicaSet.
	record   Record
	recorded bool
}

func observe(live *appsv1.Deployment, replicaSets []appsv1.ReplicaSet, rendered Rendered) observed {
	result := observed{live: live, inputs: live.Spec.Template.Annotations[names.AnnotationInputs], rendered: rendered}
	result.record, result.recorded = Parse(live.Annotations)
	result.byPredecessor = live.Annotations[names.AnnotationRendered] == ByPredecessor
	for i := range replicaSets {
		if set := &replicaSets[i]; metav1.IsControlledBy(set, live) {
			result.past = append(result.past, newRevision(set))
		}
	}
	return result
}

func newRevision(set *appsv1.ReplicaSet) revision {
	result := revision{
		again:  set.Annotations[revisionHistoryAnnotation] != "",
		inputs: set.Spec.Template.Annotations[names.AnnotationInputs],
	}
	result.record, result.recorded = Parse(set.Annotations)
	// A ReplicaSet without a number has no revision yet, because the Deployment controller has not processed it.
	result.number, _ = strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	return result
}

// newerGeneration returns the newest generation in the records, and whether it is newer than the rendering's
// generation.
func (o observed) newerGeneration() (int64, bool) {
	newest := o.generation(o.record)
	for _, past := range o.past {
		newest = max(newest, o.generation(past.record))
	}
	return newest, newest > o.rendered.Record.Generation
}

// generation returns the generation in a record. It returns zero if there is no record, or if the record has the UID of
// another stack or a generation that the stack never had.
func (o observed) generation(r Record) int64 {
	if r.UID != o.rendered.Record.UID || o.rendered.Newest && r.Generation > o.rendered.Record.Generation {
		return 0
	}
	return r.Generation
}

// rolledBack reports whether a user went back to an older template although the spec has not changed. The rollback is
// confirmed when the Deployment controller has increased the revision. Before that, a rollback cannot be distinguished
// from a Deployment that was read too early.
func (o observed) rolledBack() (back, confirmed bool) {
	if o.recorded && o.sameInputs(o.record) {
		return o.templateRolledBack()
	}
	// `kubectl rollout undo` restores the annotations of the older revision, including the record. The newer record is on
	// the ReplicaSet of the revision from which the user rolled back.
	left := int64(-1)
	for _, past := range o.past {
		newer := past.recorded && o.generation(past.record) > o.generation(o.record)
		if newer && o.sameInputs(past.record) && past.inputs != o.inputs {
			left = max(left, past.number)
		}
	}
	return left >= 0, o.revision() > left
}

// templateRolledBack detects a rollback that did not change the Deployment's annotations. An edit to the digest in the
// template is not a rollback, because it creates a new ReplicaSet.
func (o observed) templateRolledBack() (back, confirmed bool) {
	if o.inputs == "" || o.inputs == o.record.templateInputs() {
		return false, false
	}
	left := int64(-1)
	for _, past := range o.past {
		if past.inputs == o.record.templateInputs() {
			left = max(left, past.number)
		}
	}
	back = slices.ContainsFunc(o.past, func(past revision) bool {
		return past.inputs == o.inputs && (past.again || past.number < left)
	})
	return back, back
}

// running returns the digest of the inputs that is recorded in the template that the operator last applied.
func (o observed) running() string {
	if o.recorded {
		return o.record.templateInputs()
	}
	return o.inputs
}

// unrecorded returns a record with the digests in the template, for a Deployment whose record was removed.
func (o observed) unrecorded() Record {
	return Record{Inputs: o.inputs, ReferenceKey: o.rendered.Record.ReferenceKey}
}

// revision returns the number of the live template's revision, or -1 if it has none.
func (o observed) revision() int64 {
	number := int64(-1)
	for _, past := range o.past {
		if past.inputs == o.inputs {
			number = max(number, past.number)
		}
	}
	return number
}

// restarted reports whether a user has restarted the pods since Kept was recorded.
func (o observed) restarted() bool {
	return o.record.Kept != nil && o.record.Kept.RestartedAt != restartedAt(o.live)
}

func restartedAt(live *appsv1.Deployment) string {
	return live.Spec.Template.Annotations[restartAnnotation]
}
