package change

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// Restart is the effect of an edit on the pods.
type Restart string

const (
	// Starts means that the stack is new and its first pods start.
	Starts Restart = "start"
	// Stays means that the operator does not replace the running pods.
	Stays Restart = "none"
	// Restarts means that the operator replaces the pods.
	Restarts Restart = "restart"
	// Waits means that the operator does not replace the pods while the stack is paused.
	Waits Restart = "paused"
	// Blocked means that the operator replaces the pods only after the user has accepted the loss of data.
	Blocked Restart = "blocked"
)

// Pods describes the effect of an edit on the pods, with the reasons.
type Pods struct {
	Restart Restart `json:"restart"`
	// Why lists the causes. Template lists the fields of the pod template that change.
	Why      []string `json:"why,omitempty"`
	Template []string `json:"template,omitempty"`
	// How describes the replacement of the pods.
	How string `json:"how,omitempty"`
	// TriesFirst reports whether a preflight tests the change first. Preflight contains the reason.
	TriesFirst bool   `json:"preflight"`
	Preflight  string `json:"preflightReason,omitempty"`

	// replaces reports whether the operator changes the pod template of an existing stack, whether or not a pod is
	// running. It is false for a paused stack.
	replaces bool
}

// pods makes the same decision as package rollout: the operator replaces pods if the inputs to their template change
// and the template itself changes. Both sides come from the same pipeline, so facts that are available only to the
// operator cause no difference.
func pods(in Input, objects []Object) (Pods, error) {
	if in.Before == nil {
		return firstPods(in), nil
	}
	same, err := sameInputs(in.Before, in.After)
	if err != nil {
		return Pods{}, err
	}
	before, after := in.Before.Rendered, in.After.Rendered
	switch {
	case same || before.Record.Template == after.Record.Template:
		return Pods{Restart: Stays}, nil
	case in.Paused:
		return Pods{Restart: Waits}, nil
	}
	found := Pods{
		Restart: Restarts, Why: causes(before.Inputs, after.Inputs), Template: template(objects),
		replaces: true,
	}
	if in.Held != "" {
		found.Why = append(found.Why, "the operator also applies the changes that it held back: "+in.Held)
	}
	return found, found.replace(in)
}

// firstPods returns the effect on the pods if there is no plan of a running stack.
func firstPods(in Input) Pods {
	switch {
	case in.Paused:
		return Pods{Restart: Waits}
	case in.Exists:
		return Pods{Restart: Restarts, Why: []string{"no configuration can be generated from the stack's spec in the " +
			"cluster, so this command does not compare the pod templates"}}
	default:
		return Pods{Restart: Starts}
	}
}

// replace describes the replacement of the pods. If the stack is scaled to zero, it sets Restart to Stays.
func (p *Pods) replace(in Input) error {
	deployment := in.After.Rendered.Deployment
	if wanted := deployment.Spec.Replicas; wanted != nil && *wanted == 0 {
		p.Restart, p.How = Stays, "the stack is scaled to zero, so no pod is running; the change takes effect when the next pod starts"
		return nil
	}
	recreates := *deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	p.How = "the earlier pods serve requests until the new pods are ready"
	if recreates {
		p.How = "the earlier pods stop before the new pods start, so the server is not available during the change"
	}
	alike := false
	if in.Held == "" {
		var err error
		before := in.Before.Rendered
		alike, err = in.After.Rendered.StartsAlike(before.Record, before.Deployment.Spec.Template)
		if err != nil {
			return err
		}
	}
	p.TriesFirst, p.Preflight = preflight(in, recreates, alike)
	return nil
}

// sameInputs reports whether both plans have the same inputs to the pod template.
func sameInputs(before, after *plan.Plan) (bool, error) {
	was, err := rollout.Digest(before.Rendered.Inputs, rollout.References{})
	if err != nil {
		return false, err
	}
	is, err := rollout.Digest(after.Rendered.Inputs, rollout.References{})
	return was == is, err
}

// template returns the fields of the pod template that change.
func template(objects []Object) []string {
	var paths []string
	for i := range objects {
		if objects[i].Kind != "Deployment" {
			continue
		}
		for _, field := range objects[i].Fields {
			if path, ok := strings.CutPrefix(field.Path, "spec.template."); ok {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// causes names the inputs to the pod template that differ.
func causes(was, is rollout.Inputs) []string {
	var found []string
	for _, part := range []struct {
		differs bool
		text    string
	}{
		{was.Image != is.Image, fmt.Sprintf("the image changes from %s to %s", was.Image, is.Image)},
		{was.Image == is.Image && was.Release != is.Release, fmt.Sprintf("the server release changes from %s to %s",
			was.Release, is.Release)},
		{was.ConfigHash != is.ConfigHash, "the configuration changes"},
		{!slices.Equal(was.Variables, is.Variables), "the configuration variables change"},
		{was.Port != is.Port, fmt.Sprintf("the port changes from %d to %d (spec.networking.port)", was.Port, is.Port)},
		{was.Workers != is.Workers, fmt.Sprintf("the number of workers changes from %d to %d (spec.workload.workers)",
			was.Workers, is.Workers)},
		{was.MountPath != is.MountPath || was.Claim != is.Claim, "the volume changes (spec.workload.storage)"},
		{!reflect.DeepEqual(was.Resources, is.Resources), "the resources change (spec.workload.resources)"},
		{!reflect.DeepEqual(was.Overrides, is.Overrides), "the overrides change (spec.workload.overrides)"},
		{!reflect.DeepEqual(was.Spread, is.Spread), "the topology spread constraints change " +
			"(spec.workload.topologySpreadConstraints)"},
		{was.TLSSecret != is.TLSSecret, "the server's certificate changes (spec.networking.tls)"},
		{was.CABundle != is.CABundle, "the trusted certificates change (spec.networking.tls.caBundle)"},
		{!slices.Equal(was.External, is.External), "the external providers change (spec.externalProviders)"},
		{was.Offline != is.Offline, "the pods' access to the internet changes (spec.offline)"},
		{!reflect.DeepEqual(was.ModelFiles, is.ModelFiles), "the model files change (spec.modelFiles)"},
		{
			was.Compat != is.Compat || was.Container != is.Container,
			"a v1alpha1 conversion annotation changes",
		},
	} {
		if part.differs {
			found = append(found, part.text)
		}
	}
	return found
}

// preflight reports whether the operator tests the change in a separate pod first, and why.
func preflight(in Input, recreates, startsAlike bool) (runs bool, reason string) {
	switch {
	case in.Serving != nil && *in.Serving == 0:
		return false, "no pod serves requests, so a failed change causes no outage"
	case in.After.TriesChange(startsAlike):
		return true, "the operator tests the change in a separate pod before it replaces the running pods"
	case in.After.PreflightMode() == "" && in.After.Rendered.Inputs.Compat != "":
		return false, "by default, a stack that was created as v1alpha1 has no preflight; set spec.workload.preflight to " +
			"Always to test changes"
	case startsAlike && recreates:
		return false, "the change cannot prevent the server from starting"
	case in.After.PreflightMode() == v1alpha2.PreflightNever:
		return false, "spec.workload.preflight is Never"
	case !recreates:
		return false, "the earlier pods serve requests until the new pods are ready"
	default:
		return false, "a second pod could change the running pod's data, or wait for the running pod's devices; " +
			"to test the change anyway, set spec.workload.preflight to Always"
	}
}
