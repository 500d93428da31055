package rollout

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	// revisionAnnotation and revisionHistoryAnnotation are the Deployment controller's, on ReplicaSets: the revision a
	// ReplicaSet has, and those it had before it was rolled back to.
	revisionAnnotation        = "deployment.kubernetes.io/revision"
	revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history"
	// restartAnnotation is what `kubectl rollout restart` writes into a template.
	restartAnnotation = "kubectl.kubernetes.io/restartedAt"
)

// observed is what runs, beside what is rendered.
type observed struct {
	live *appsv1.Deployment
	// record on the live Deployment, when recorded.
	record   Record
	recorded bool
	// byPredecessor says that the template is another operator's, in whatever it has of ours.
	byPredecessor bool
	// inputs is what the live template says of its inputs.
	inputs string
	// past holds the ReplicaSets of the live Deployment.
	past     []revision
	rendered Rendered
}

// revision is a ReplicaSet of the Deployment.
type revision struct {
	number int64
	// again says that the Deployment came back to it at least once.
	again bool
	// inputs is what its template says.
	inputs string
	// record of the Deployment while this was its newest ReplicaSet.
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
	// No number, no revision: the Deployment controller has not seen it yet.
	result.number, _ = strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	return result
}

// newerGeneration finds a record of a generation that the object in hand has not reached.
func (o observed) newerGeneration() (int64, bool) {
	newest := o.generation(o.record)
	for _, past := range o.past {
		newest = max(newest, o.generation(past.record))
	}
	return newest, newest > o.rendered.Record.Generation
}

// generation of a record of this stack; zero for another's, for a generation that the stack never had, or none.
func (o observed) generation(r Record) int64 {
	if r.UID != o.rendered.Record.UID || o.rendered.Newest && r.Generation > o.rendered.Record.Generation {
		return 0
	}
	return r.Generation
}

// rolledBack reports whether a user went back to an older template although the spec is as it was. It is confirmed once the
// Deployment controller has counted the revision up; until then it cannot be told from a Deployment that was read too
// early.
func (o observed) rolledBack() (back, confirmed bool) {
	if o.recorded && o.sameInputs(o.record) {
		return o.templateRolledBack()
	}
	// `kubectl rollout undo` brings the annotations of that time back, our record too: the newer record is on the
	// ReplicaSet that was left.
	left := int64(-1)
	for _, past := range o.past {
		newer := past.recorded && o.generation(past.record) > o.generation(o.record)
		if newer && o.sameInputs(past.record) && past.inputs != o.inputs {
			left = max(left, past.number)
		}
	}
	return left >= 0, o.revision() > left
}

// templateRolledBack finds a rollback that left the Deployment's annotations alone. An edit that puts a digest of its
// own into the template is none: its ReplicaSet is new.
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

// running is what the template says of its inputs, as it was applied last.
func (o observed) running() string {
	if o.recorded {
		return o.record.templateInputs()
	}
	return o.inputs
}

// unrecorded is what the template tells of a record that somebody removed. By which key its references' digest is made
// is told by the digest alone.
func (o observed) unrecorded() Record {
	was := Record{Inputs: o.inputs, ReferenceKey: o.rendered.Record.ReferenceKey}
	if _, digest := splitDigest(o.inputs); digest != "" && digest == o.rendered.References.EarlierDigest {
		was.ReferenceKey = o.rendered.References.EarlierKey
	}
	return was
}

// revision is the number of the live template's revision; -1 when it has none.
func (o observed) revision() int64 {
	number := int64(-1)
	for _, past := range o.past {
		if past.inputs == o.inputs {
			number = max(number, past.number)
		}
	}
	return number
}

// restarted reports whether a user restarted the pods since their template was first kept.
func (o observed) restarted() bool {
	return o.record.Kept != nil && o.record.Kept.RestartedAt != restartedAt(o.live)
}

func restartedAt(live *appsv1.Deployment) string {
	return live.Spec.Template.Annotations[restartAnnotation]
}
