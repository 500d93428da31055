package rollout

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// Outcome is what Decide found.
type Outcome string

const (
	// Changed: what feeds the template changed, or there is no Deployment yet, or a restart asks for what was kept
	// back. The rendering is applied.
	Changed Outcome = "Changed"
	// Unchanged: nothing changed since the last rendering. It is applied again, so that an edit by somebody is put
	// back.
	Unchanged Outcome = "Unchanged"
	// KeepTemplate: the same inputs give another template than they once did, because the operator is newer or
	// another program wrote the template. The template stays; Adopted is False with the decision's message.
	KeepTemplate Outcome = "KeepTemplate"
	// RolledBack: a user rolled the Deployment back. The template stays; Degraded is True with the decision's message.
	RolledBack Outcome = "RolledBack"
	// StaleCache: what was read is from different moments. Nothing is written; look again.
	StaleCache Outcome = "StaleCache"
)

// Rendered is what would be applied if there was nothing to respect.
type Rendered struct {
	// Deployment is the rendered Deployment. It is only read.
	Deployment *appsv1ac.DeploymentApplyConfiguration
	// Record of this rendering, as for a new Deployment.
	Record Record
	// Newest says that the stack has no newer generation: a record of one is damaged, and no sign of a cache that is
	// behind.
	Newest bool
	// References are those whose digest is in Record.
	References References
	// Inputs are what the digest in Record is over. Zero: a change of the configuration cannot be told from another.
	Inputs Inputs
}

// Decision is what to apply.
type Decision struct {
	Outcome Outcome
	// Deployment to apply, record included. Nil when nothing is to be written.
	Deployment *appsv1ac.DeploymentApplyConfiguration
	// Record in force after the apply.
	Record Record
	// Replaces says that the Deployment replaces its pods by ones that are made of something else: a change, and no
	// edit that is put back, no newer operator's rendering.
	Replaces bool
	// NewerGeneration says that the outcome is StaleCache because a record has a newer generation than the rendering.
	NewerGeneration bool
	// Message says what a user should know: about KeepTemplate, RolledBack and StaleCache. It holds no values.
	Message string
}

// Decide compares what is rendered now with what runs. live is the Deployment as it was read, with its managed fields;
// nil when there is none. replicaSets may hold those of others too.
func Decide(live *appsv1.Deployment, replicaSets []appsv1.ReplicaSet, rendered Rendered) (Decision, error) {
	if live == nil {
		return apply(Changed, rendered, rendered.Record)
	}
	seen := look(live, replicaSets, rendered)
	rendered = keepReplicas(seen, rendered)
	if generation, stale := seen.newerGeneration(); stale {
		decision := stop(seen, fmt.Sprintf("generation %d was rendered already, read again", generation))
		decision.NewerGeneration = true
		return decision, nil
	}
	switch back, settled := seen.rolledBack(); {
	case back && !settled:
		return stop(seen, "the Deployment and its ReplicaSets do not fit together yet"), nil
	case back:
		return leave(seen, rendered)
	}
	switch {
	case !seen.recorded && seen.inputs == "":
		return keep(seen, rendered)
	case !seen.recorded && seen.sameInputs(seen.unrecorded()):
		next := rendered.Record
		next.setTemplateInputs(seen.inputs)
		return applyUnchanged(seen, rendered, next)
	case seen.recorded && seen.onlyOperator(rendered):
		return keep(seen, rendered)
	case !seen.recorded, !seen.sameInputs(seen.record):
		return applyChange(seen, rendered)
	case seen.record.Template == rendered.Record.Template:
		return applyAgain(seen, rendered)
	case seen.restarted():
		return apply(Changed, rendered, rendered.Record)
	default:
		return keep(seen, rendered)
	}
}

// sameInputs reports whether what fed the template of a record is what feeds the rendered one.
func (s seen) sameInputs(was Record) bool {
	inputs, _ := splitDigest(was.Inputs)
	wanted, _ := splitDigest(s.wanted.Inputs)
	return inputs == wanted && s.sameReferences(was)
}

// sameReferences reports whether the references of a record are those of the rendering. A digest by a key that nobody
// knows is no change: the key was lost and made again, the Secrets are what they were.
func (s seen) sameReferences(was Record) bool {
	_, digest := splitDigest(was.Inputs)
	_, wanted := splitDigest(s.wanted.Inputs)
	switch was.ReferenceKey {
	case s.wanted.ReferenceKey:
		return digest == wanted
	case s.references.EarlierKey:
		return digest == s.references.EarlierDigest
	default:
		return true
	}
}

// applyChange rolls the pods, unless the change is one that the template does not show.
func applyChange(seen seen, rendered Rendered) (Decision, error) {
	next := rendered.Record
	if seen.recorded && seen.record.Template == next.Template && seen.sameReferences(seen.record) {
		next.setTemplateInputs(seen.record.templateInputs())
		rendered = sameGeneration(seen, rendered)
	}
	replaces := next.templateInputs() != seen.running()
	if !replaces {
		next.Left = seen.record.Left
	}
	decision, err := apply(Changed, rendered, next)
	decision.Replaces = replaces
	return decision, err
}

// applyAgain changes nothing but the record, and that only when it has something new to say: an operator upgrade
// alone is none.
func applyAgain(seen seen, rendered Rendered) (Decision, error) {
	next := rendered.Record
	next.setTemplateInputs(seen.record.templateInputs())
	next.OperatorVersion = seen.record.OperatorVersion
	next.keepData(seen.record)
	if !reflect.DeepEqual(next, seen.record) {
		next.OperatorVersion = rendered.Record.OperatorVersion
	}
	return applyUnchanged(seen, rendered, next)
}

// applyUnchanged applies the rendering of pods that stay.
func applyUnchanged(seen seen, rendered Rendered, next Record) (Decision, error) {
	return apply(Unchanged, sameGeneration(seen, rendered), next)
}

// sameGeneration is the rendering with the generation in its template that the live template says.
func sameGeneration(seen seen, rendered Rendered) Rendered {
	rendered.Deployment = clone(rendered.Deployment)
	rendered.Deployment.Spec.Template = withGeneration(rendered.Deployment.Spec.Template, seen.live)
	return rendered
}

func (r *Record) setTemplateInputs(inputs string) {
	r.TemplateInputs = ""
	if inputs != r.Inputs {
		r.TemplateInputs = inputs
	}
}

// keepData keeps what is said of the data of pods that stay.
func (r *Record) keepData(of Record) { r.Places, r.Left = of.Places, of.Left }

// apply is the rendering with its record.
func apply(outcome Outcome, rendered Rendered, next Record) (Decision, error) {
	deployment := clone(rendered.Deployment)
	deployment.Spec.Template = withInputs(deployment.Spec.Template, next.templateInputs())
	if err := annotate(deployment, next); err != nil {
		return Decision{}, err
	}
	return Decision{Outcome: outcome, Deployment: deployment, Record: next}, nil
}

// stop writes nothing.
func stop(seen seen, message string) Decision {
	return Decision{Outcome: StaleCache, Record: seen.record, Message: message}
}

// leave respects a rollback: the template and the record that came back with it stay, the rest of the Deployment
// follows the spec, so that a rolled back stack still scales.
func leave(seen seen, rendered Rendered) (Decision, error) {
	template, err := ownTemplate(seen.live)
	if err != nil {
		return Decision{}, err
	}
	deployment := clone(rendered.Deployment)
	deployment.Spec.Template = template
	delete(deployment.Annotations, names.AnnotationRendered)
	if value, ok := seen.live.Annotations[names.AnnotationRendered]; ok {
		deployment.WithAnnotations(map[string]string{names.AnnotationRendered: value})
	}
	message := fmt.Sprintf("Deployment %q was rolled back to revision %d; the spec takes effect at its next change, "+
		"or with `kubectl rollout undo deployment/%s`", seen.live.Name, seen.revision(), seen.live.Name)
	return Decision{Outcome: RolledBack, Deployment: deployment, Record: seen.record, Message: message}, nil
}

// keep leaves a template as it is that would be rendered differently.
func keep(seen seen, rendered Rendered) (Decision, error) {
	template, err := ownTemplate(seen.live)
	if err != nil {
		return Decision{}, err
	}
	differences, err := differences(seen.live, template, rendered.Deployment.Spec.Template)
	if err != nil {
		return Decision{}, err
	}
	next := rendered.Record
	next.Template = seen.record.Template
	next.OperatorVersion = seen.record.OperatorVersion
	next.keepData(seen.record)
	if seen.recorded {
		next.setTemplateInputs(seen.record.templateInputs())
	}
	next.Kept = seen.record.Kept
	if next.Kept == nil {
		next.Kept = &Kept{RestartedAt: restartedAt(seen.live)}
	}
	deployment := clone(rendered.Deployment)
	deployment.Spec.Template = template
	if err := annotate(deployment, next); err != nil {
		return Decision{}, err
	}
	message := fmt.Sprintf("the pods of Deployment %q stay as they were rendered before; at the next change, or with "+
		"`kubectl rollout restart deployment/%s`, these differ: %s", seen.live.Name, seen.live.Name, differences)
	return Decision{Outcome: KeepTemplate, Deployment: deployment, Record: next, Message: message}, nil
}
