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

// seen is what runs, beside what is wanted.
type seen struct {
	live *appsv1.Deployment
	// record on the live Deployment, when recorded.
	record   Record
	recorded bool
	// inputs is what the live template says of its inputs.
	inputs string
	// past holds the ReplicaSets of the live Deployment.
	past []revision
	// wanted is the record of the rendering, references those in it.
	wanted     Record
	references References
	// newest says that no generation is newer than that of wanted.
	newest bool
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

func look(live *appsv1.Deployment, replicaSets []appsv1.ReplicaSet, rendered Rendered) seen {
	result := seen{
		live: live, inputs: live.Spec.Template.Annotations[names.AnnotationInputs], wanted: rendered.Record, references: rendered.References,
		newest: rendered.Newest,
	}
	result.record, result.recorded = Parse(live.Annotations)
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
func (s seen) newerGeneration() (int64, bool) {
	newest := s.generation(s.record)
	for _, past := range s.past {
		newest = max(newest, s.generation(past.record))
	}
	return newest, newest > s.wanted.Generation
}

// generation of a record of this stack; zero for another's, for a generation that the stack never had, or none.
func (s seen) generation(r Record) int64 {
	if r.UID != s.wanted.UID || s.newest && r.Generation > s.wanted.Generation {
		return 0
	}
	return r.Generation
}

// rolledBack says that a user went back to an older template although the spec is as it was. It is settled once the
// Deployment controller has counted the revision up; until then it cannot be told from a Deployment that was read too
// early.
func (s seen) rolledBack() (back, settled bool) {
	if s.recorded && s.sameInputs(s.record) {
		return s.templateRolledBack()
	}
	// `kubectl rollout undo` brings the annotations of that time back, our record too: the newer record is on the
	// ReplicaSet that was left.
	left := int64(-1)
	for _, past := range s.past {
		newer := past.recorded && s.generation(past.record) > s.generation(s.record)
		if newer && s.sameInputs(past.record) && past.inputs != s.inputs {
			left = max(left, past.number)
		}
	}
	return left >= 0, s.revision() > left
}

// templateRolledBack finds a rollback that left the Deployment's annotations alone. An edit that puts a digest of its
// own into the template is none: its ReplicaSet is new.
func (s seen) templateRolledBack() (back, settled bool) {
	if s.inputs == "" || s.inputs == s.record.templateInputs() {
		return false, false
	}
	left := int64(-1)
	for _, past := range s.past {
		if past.inputs == s.record.templateInputs() {
			left = max(left, past.number)
		}
	}
	back = slices.ContainsFunc(s.past, func(past revision) bool {
		return past.inputs == s.inputs && (past.again || past.number < left)
	})
	return back, back
}

// running is what the template says of its inputs, as it was applied last.
func (s seen) running() string {
	if s.recorded {
		return s.record.templateInputs()
	}
	return s.inputs
}

// unrecorded is what the template tells of a record that somebody removed. By which key its references' digest is made
// is told by the digest alone.
func (s seen) unrecorded() Record {
	was := Record{Inputs: s.inputs, ReferenceKey: s.wanted.ReferenceKey}
	if _, digest := splitDigest(s.inputs); digest != "" && digest == s.references.EarlierDigest {
		was.ReferenceKey = s.references.EarlierKey
	}
	return was
}

// revision is the number of the live template's revision; -1 when it has none.
func (s seen) revision() int64 {
	number := int64(-1)
	for _, past := range s.past {
		if past.inputs == s.inputs {
			number = max(number, past.number)
		}
	}
	return number
}

// restarted says that a user restarted the pods since their template was first kept.
func (s seen) restarted() bool {
	return s.record.Kept != nil && s.record.Kept.RestartedAt != restartedAt(s.live)
}

func restartedAt(live *appsv1.Deployment) string {
	return live.Spec.Template.Annotations[restartAnnotation]
}
