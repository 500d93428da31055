package rollout

import (
	"cmp"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Outcome is the result of Decide.
type Outcome string

const (
	// Changed means that the inputs of the template changed, that there is no Deployment yet, or that a restart by a user
	// requests a template that KeepTemplate held back. The caller applies the rendering.
	Changed Outcome = "Changed"
	// Unchanged means that nothing changed since the last rendering. The caller applies the rendering again, which reverts
	// edits.
	Unchanged Outcome = "Unchanged"
	// KeepTemplate means that the rendered template differs from the live template because the version of the operator
	// changed, or because another program wrote the live template. The live template is kept. The condition Adopted is
	// False, and has the decision's message.
	KeepTemplate Outcome = "KeepTemplate"
	// RolledBack means that a user rolled the Deployment back. The live template is kept. The condition Degraded is True,
	// and has the decision's message.
	RolledBack Outcome = "RolledBack"
	// StaleCache means that the objects were read at different times. The caller writes nothing and has to read the
	// objects again.
	StaleCache Outcome = "StaleCache"
)

// Rendered is the rendering of a stack, as it would be applied if there were no Deployment.
type Rendered struct {
	// Deployment is the rendered Deployment. It is not modified.
	Deployment *appsv1ac.DeploymentApplyConfiguration
	// Record is the record of this rendering, as it would be for a new Deployment.
	Record Record
	// Newest reports whether the rendered generation is known to be the stack's newest. If so, a newer generation in a
	// record means that the record is damaged, not that the cache lags behind.
	Newest bool
	// Inputs holds the inputs whose digest is in Record. Zero means that Decide cannot distinguish a change to the
	// configuration from other changes.
	Inputs Inputs
}

// Decision is the result of Decide: the Deployment to apply, and its record.
type Decision struct {
	Outcome Outcome
	// Deployment is the Deployment to apply, including the record. Nil means that the caller writes nothing.
	Deployment *appsv1ac.DeploymentApplyConfiguration
	// Record is the record in force after the apply.
	Record Record
	// Replaces reports whether the Deployment replaces its pods with pods that have different inputs. It is false if only
	// an edit is reverted, or if only the operator is newer.
	Replaces bool
	// StartsAlike reports whether the new pods differ from the replaced ones only in parts that cannot prevent the server
	// from starting (see Rendered.StartsAlike).
	StartsAlike bool
	// NewerGeneration reports whether the outcome is StaleCache because a record has a newer generation than the
	// rendering.
	NewerGeneration bool
	// Message is the message for the user about KeepTemplate, RolledBack and StaleCache. It contains no values except the
	// names of images.
	Message string
}

// Decide compares the current rendering with the live objects. The parameter live is the Deployment as it was read,
// with its managed fields, or nil if there is none. The parameter replicaSets may contain ReplicaSets of other
// Deployments.
func Decide(live *appsv1.Deployment, replicaSets []appsv1.ReplicaSet, rendered Rendered) (Decision, error) {
	if live == nil {
		return apply(Changed, rendered, rendered.Record)
	}
	o := observe(live, replicaSets, rendered)
	o.rendered = o.keepReplicas()
	o.rendered.Record.Applied = o.record.Applied
	if generation, stale := o.newerGeneration(); stale {
		decision := o.stop(fmt.Sprintf("the operator has already rendered generation %d, and is waiting until its cache contains this generation", generation))
		decision.NewerGeneration = true
		return decision, nil
	}
	if o.byPredecessor {
		return o.keep()
	}
	switch back, confirmed := o.rolledBack(); {
	case back && !confirmed:
		return o.stop("the Deployment and its ReplicaSets do not match yet; the operator is waiting for them to match"), nil
	case back:
		return o.leave()
	}
	switch {
	case !o.recorded && o.inputs == "":
		return o.keep()
	case !o.recorded && o.sameInputs(o.unrecorded()):
		next := o.rendered.Record
		next.setTemplateInputs(o.inputs)
		return o.applyUnchanged(next)
	case o.recorded && (o.onlyOperator() || o.pinned()):
		return o.keep()
	case !o.recorded, !o.sameInputs(o.record):
		return o.applyChange()
	case o.record.Template == o.rendered.Record.Template:
		return o.applyAgain()
	case o.restarted():
		return apply(Changed, o.rendered, o.rendered.Record)
	default:
		return o.keep()
	}
}

// sameInputs reports whether a recorded template has the same inputs as the rendered one.
func (o observed) sameInputs(was Record) bool {
	inputs, _ := splitDigest(was.Inputs)
	wanted, _ := splitDigest(o.rendered.Record.Inputs)
	return inputs == wanted && o.sameReferences(was)
}

// sameReferences reports whether a record has the same references as the rendering. A digest with an unknown key does
// not count as a change, because the key may have been deleted and created again.
func (o observed) sameReferences(was Record) bool {
	_, digest := splitDigest(was.Inputs)
	_, wanted := splitDigest(o.rendered.Record.Inputs)
	return digest == wanted || was.ReferenceKey != o.rendered.Record.ReferenceKey
}

// applyChange applies changed inputs. It replaces the pods unless the template and the references are the same.
func (o observed) applyChange() (Decision, error) {
	next, rendered := o.rendered.Record, o.rendered
	if o.recorded && o.record.Template == next.Template && o.sameReferences(o.record) {
		next.setTemplateInputs(o.record.templateInputs())
		rendered = o.sameGeneration()
	}
	// If another program wrote the template, the annotation describes a rendering by this operator and not that template,
	// so the pods are replaced even if the inputs are the same.
	replaces := next.templateInputs() != o.running() || o.recorded && o.record.Template == ""
	if !replaces {
		next.Left = o.record.Left
	}
	decision, err := apply(Changed, rendered, next)
	if decision.Replaces = replaces; err != nil || !replaces || !o.recorded || !o.sameReferences(o.record) {
		return decision, err
	}
	decision.StartsAlike, err = o.rendered.StartsAlike(o.record, &o.live.Spec.Template)
	return decision, err
}

// applyAgain applies the same template again. It changes the record only if a value other than the operator version
// changes.
func (o observed) applyAgain() (Decision, error) {
	next := o.rendered.Record
	next.setTemplateInputs(o.record.templateInputs())
	next.OperatorVersion = o.record.OperatorVersion
	next.keepData(o.record)
	if !reflect.DeepEqual(next, o.record) {
		next.OperatorVersion = o.rendered.Record.OperatorVersion
	}
	return o.applyUnchanged(next)
}

// applyUnchanged applies a rendering that does not replace pods.
func (o observed) applyUnchanged(next Record) (Decision, error) {
	return apply(Unchanged, o.sameGeneration(), next)
}

// sameGeneration returns the rendering with the generation of the live template, because a new generation alone must
// not replace pods.
func (o observed) sameGeneration() Rendered {
	rendered, template := o.rendered, o.rendered.Deployment.Spec.Template
	if template.ObjectMetaApplyConfiguration != nil && template.Annotations[names.AnnotationGeneration] != "" {
		rendered.Deployment = clone(rendered.Deployment)
		rendered.Deployment.Spec.Template = withAnnotation(template, names.AnnotationGeneration,
			o.live.Spec.Template.Annotations[names.AnnotationGeneration])
	}
	return rendered
}

func (r *Record) setTemplateInputs(inputs string) {
	r.TemplateInputs = ""
	if inputs != r.Inputs {
		r.TemplateInputs = inputs
	}
}

// keepData copies the recorded facts about the data of pods that are not replaced.
func (r *Record) keepData(of Record) { r.Places, r.Left = of.Places, of.Left }

// apply returns the decision to apply the rendering with its record.
func apply(outcome Outcome, rendered Rendered, next Record) (Decision, error) {
	deployment := clone(rendered.Deployment)
	deployment.Spec.Template = withAnnotation(deployment.Spec.Template, names.AnnotationInputs, next.templateInputs())
	if err := annotate(deployment, next); err != nil {
		return Decision{}, err
	}
	return Decision{Outcome: outcome, Deployment: deployment, Record: next}, nil
}

// stop returns the decision to write nothing.
func (o observed) stop(message string) Decision {
	return Decision{Outcome: StaleCache, Record: o.record, Message: message}
}

// leave returns the decision for a rollback: the live template and the record on the live Deployment are kept. The
// other fields of the Deployment follow the spec, so that users can still scale the stack.
func (o observed) leave() (Decision, error) {
	template, err := ownTemplate(o.live)
	if err != nil {
		return Decision{}, err
	}
	deployment := clone(o.rendered.Deployment)
	deployment.Spec.Template = template
	delete(deployment.Annotations, names.AnnotationRendered)
	if value, ok := o.live.Annotations[names.AnnotationRendered]; ok {
		deployment.WithAnnotations(map[string]string{names.AnnotationRendered: value})
	}
	message := fmt.Sprintf("Deployment %q was rolled back to revision %d; to roll forward again, change the spec or run "+
		"`kubectl rollout undo deployment/%s`", o.live.Name, o.revision(), o.live.Name)
	return Decision{Outcome: RolledBack, Deployment: deployment, Record: o.record, Message: message}, nil
}

// keep returns the decision to keep the live template although the rendered template differs from it.
func (o observed) keep() (Decision, error) {
	template, err := ownTemplate(o.live)
	if err != nil {
		return Decision{}, err
	}
	differences, err := differences(o.live, template, o.rendered.Deployment.Spec.Template)
	if err != nil {
		return Decision{}, err
	}
	next := o.keptRecord()
	deployment := clone(o.rendered.Deployment)
	deployment.Spec.Template = template
	if err := annotate(deployment, next); err != nil {
		return Decision{}, err
	}
	message := fmt.Sprintf("The pods of Deployment %q keep their earlier template; the next change, or "+
		"`kubectl rollout restart deployment/%s`, updates these fields: %s%s", o.live.Name, o.live.Name, differences,
		changedImages(o.live, o.rendered.Deployment.Spec.Template))
	return Decision{Outcome: KeepTemplate, Deployment: deployment, Record: next, Message: message}, nil
}

// keptRecord returns the record of the rendering with the facts about the live template, which is kept.
func (o observed) keptRecord() Record {
	next := o.rendered.Record
	next.Template, next.Start = o.record.Template, o.record.Start
	next.OperatorVersion = o.record.OperatorVersion
	next.keepData(o.record)
	if running := o.running(); running != "" {
		next.setTemplateInputs(running)
	}
	next.Kept = cmp.Or(o.record.Kept, &Kept{RestartedAt: restartedAt(o.live)})
	return next
}
