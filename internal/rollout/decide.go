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
	// EarlierInputs is what the digest of the inputs is, without the references, in a record of the same that does not say
	// TrustsPlatform. Empty: the same.
	EarlierInputs string
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
	o := observe(live, replicaSets, rendered)
	o.rendered = o.keepReplicas()
	if generation, stale := o.newerGeneration(); stale {
		decision := o.stop(fmt.Sprintf("generation %d was rendered already, read again", generation))
		decision.NewerGeneration = true
		return decision, nil
	}
	if o.byPredecessor {
		return o.keep()
	}
	switch back, confirmed := o.rolledBack(); {
	case back && !confirmed:
		return o.stop("the Deployment and its ReplicaSets do not fit together yet"), nil
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

// sameInputs reports whether what fed the template of a record is what feeds the rendered one.
func (o observed) sameInputs(was Record) bool {
	inputs, _ := splitDigest(was.Inputs)
	wanted, _ := splitDigest(o.rendered.Record.Inputs)
	earlier := inputs != "" && inputs == o.rendered.EarlierInputs && !was.TrustsPlatform
	return (inputs == wanted || earlier) && o.sameReferences(was)
}

// sameReferences reports whether the references of a record are those of the rendering. A digest by a key that nobody
// knows is no change: the key was lost and made again, the Secrets are what they were.
func (o observed) sameReferences(was Record) bool {
	_, digest := splitDigest(was.Inputs)
	_, wanted := splitDigest(o.rendered.Record.Inputs)
	switch was.ReferenceKey {
	case o.rendered.Record.ReferenceKey:
		return digest == wanted
	case o.rendered.References.EarlierKey:
		return digest == o.rendered.References.EarlierDigest
	default:
		return true
	}
}

// applyChange rolls the pods, unless the change is one that the template does not show.
func (o observed) applyChange() (Decision, error) {
	next, rendered := o.rendered.Record, o.rendered
	if o.recorded && o.record.Template == next.Template && o.sameReferences(o.record) {
		next.setTemplateInputs(o.record.templateInputs())
		rendered = o.sameGeneration()
	}
	// What another program's template says of its inputs, it says of ours.
	replaces := next.templateInputs() != o.running() || o.recorded && o.record.Template == ""
	if !replaces {
		next.Left = o.record.Left
	}
	decision, err := apply(Changed, rendered, next)
	decision.Replaces = replaces
	return decision, err
}

// applyAgain changes nothing but the record, and that only when it has something new to say: an operator upgrade
// alone is none.
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

// applyUnchanged applies the rendering of pods that stay.
func (o observed) applyUnchanged(next Record) (Decision, error) {
	return apply(Unchanged, o.sameGeneration(), next)
}

// sameGeneration is the rendering with the generation in its template that the live template says: another generation
// alone must not replace pods.
func (o observed) sameGeneration() Rendered {
	rendered, template := o.rendered, o.rendered.Deployment.Spec.Template
	if template.ObjectMetaApplyConfiguration != nil && template.Annotations[names.AnnotationGeneration] != "" {
		rendered.Deployment = clone(rendered.Deployment)
		rendered.Deployment.Spec.Template = withAnnotation(template, names.AnnotationGeneration, o.live.Spec.Template.Annotations[names.AnnotationGeneration])
	}
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
	deployment.Spec.Template = withAnnotation(deployment.Spec.Template, names.AnnotationInputs, next.templateInputs())
	if err := annotate(deployment, next); err != nil {
		return Decision{}, err
	}
	return Decision{Outcome: outcome, Deployment: deployment, Record: next}, nil
}

// stop writes nothing.
func (o observed) stop(message string) Decision {
	return Decision{Outcome: StaleCache, Record: o.record, Message: message}
}

// leave respects a rollback: the template and the record that came back with it stay, the rest of the Deployment
// follows the spec, so that a rolled back stack still scales.
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
	message := fmt.Sprintf("Deployment %q was rolled back to revision %d; the spec takes effect at its next change, "+
		"or with `kubectl rollout undo deployment/%s`", o.live.Name, o.revision(), o.live.Name)
	return Decision{Outcome: RolledBack, Deployment: deployment, Record: o.record, Message: message}, nil
}

// keep leaves a template as it is that would be rendered differently.
func (o observed) keep() (Decision, error) {
	template, err := ownTemplate(o.live)
	if err != nil {
		return Decision{}, err
	}
	differences, err := differences(o.live, template, o.rendered.Deployment.Spec.Template)
	if err != nil {
		return Decision{}, err
	}
	next := o.rendered.Record
	next.Template = o.record.Template
	next.OperatorVersion = o.record.OperatorVersion
	next.keepData(o.record)
	switch {
	case o.recorded:
		next.setTemplateInputs(o.record.templateInputs())
	case o.inputs != "":
		next.setTemplateInputs(o.inputs)
	}
	next.Kept = o.record.Kept
	if next.Kept == nil {
		next.Kept = &Kept{RestartedAt: restartedAt(o.live)}
	}
	deployment := clone(o.rendered.Deployment)
	deployment.Spec.Template = template
	if err := annotate(deployment, next); err != nil {
		return Decision{}, err
	}
	message := fmt.Sprintf("the pods of Deployment %q stay as they were rendered before; at the next change, or with "+
		"`kubectl rollout restart deployment/%s`, these differ: %s", o.live.Name, o.live.Name, differences)
	return Decision{Outcome: KeepTemplate, Deployment: deployment, Record: next, Message: message}, nil
}
