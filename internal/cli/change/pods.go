package change

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
)

// Restart is what happens to the pods.
type Restart string

const (
	// Starts means that the stack is new and its first pods start.
	Starts Restart = "start"
	// Stays means that the running pods stay.
	Stays Restart = "none"
	// Restarts means that the pods are replaced.
	Restarts Restart = "restart"
	// Waits means that nothing happens to the pods while the stack is paused.
	Waits Restart = "paused"
	// Blocked means that the pods are not replaced until the user accepts the loss of data.
	Blocked Restart = "blocked"
)

// Pods is what happens to the pods, and why.
type Pods struct {
	Restart Restart `json:"restart"`
	// Why lists the causes. Template lists the fields of the pod template that show them.
	Why      []string `json:"why,omitempty"`
	Template []string `json:"template,omitempty"`
	// How explains how the pods are replaced.
	How string `json:"how,omitempty"`
	// TriesFirst reports whether a preflight tries the change first. Preflight explains that.
	TriesFirst bool   `json:"preflight"`
	Preflight  string `json:"preflightReason,omitempty"`

	// replaces reports whether the pod template changes, whether or not a pod runs.
	replaces bool
}

// pods decides as package rollout does: pods are replaced if the inputs of their template change, and the template
// shows it. Both sides come from the same pipeline, so that facts that only the operator has do not count as a change.
func pods(in Input, objects []Object) (Pods, error) {
	if in.Before == nil {
		if in.Paused {
			return Pods{Restart: Waits}, nil
		}
		if in.Exists {
			return Pods{Restart: Restarts, Why: []string{"the running spec gives no configuration, so that the pod " +
				"templates are not compared"}}, nil
		}
		return Pods{Restart: Starts}, nil
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
		found.Why = append(found.Why, "with the change comes what the operator held back: "+in.Held)
	}
	if wanted := after.Deployment.Spec.Replicas; wanted != nil && *wanted == 0 {
		found.Restart, found.How = Stays, "the stack is scaled to zero: no pod runs, and the next one starts with "+
			"the change"
		return found, nil
	}
	recreates := *after.Deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	found.How = "the earlier pods serve until the new ones are ready"
	if recreates {
		found.How = "the earlier pods stop before the new ones start, so that the server is not available meanwhile"
	}
	found.TriesFirst, found.Preflight = preflight(in, recreates)
	return found, nil
}

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

// causes names the inputs of the pod template that differ.
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
		{!slices.Equal(was.Variables, is.Variables), "the variables of the configuration change"},
		{was.Port != is.Port, fmt.Sprintf("the port changes from %d to %d (spec.networking.port)", was.Port, is.Port)},
		{was.Workers != is.Workers, fmt.Sprintf("the number of workers changes from %d to %d (spec.workload.workers)",
			was.Workers, is.Workers)},
		{was.MountPath != is.MountPath || was.Claim != is.Claim, "the volume changes (spec.workload.storage)"},
		{!reflect.DeepEqual(was.Resources, is.Resources), "the resources change (spec.workload.resources)"},
		{!reflect.DeepEqual(was.Overrides, is.Overrides), "the overrides change (spec.workload.overrides)"},
		{!reflect.DeepEqual(was.Spread, is.Spread), "the spread of the pods changes " +
			"(spec.workload.topologySpreadConstraints)"},
		{was.TLSSecret != is.TLSSecret, "the certificate of the server changes (spec.networking.tls)"},
		{was.CABundle != is.CABundle, "the trusted certificates change (spec.networking.tls.caBundle)"},
		{!slices.Equal(was.External, is.External), "the external providers change (spec.externalProviders)"},
		{was.Offline != is.Offline, "the access to the internet changes (spec.offline)"},
		{!reflect.DeepEqual(was.ModelFiles, is.ModelFiles), "the model files change (spec.modelFiles)"},
		{
			was.Compat != is.Compat || was.Container != is.Container,
			"an annotation of the conversion from v1alpha1 changes",
		},
	} {
		if part.differs {
			found = append(found, part.text)
		}
	}
	return found
}

// preflight reports whether the change is tried in a separate pod first, and why.
func preflight(in Input, recreates bool) (runs bool, reason string) {
	switch {
	case in.Serving != nil && *in.Serving == 0:
		return false, "no pod serves that a failed change could harm"
	case in.After.TriesChanges():
		return true, "a pod tries the change before the pods that serve are replaced"
	case in.After.PreflightMode() == "" && in.After.Rendered.Inputs.Compat != "":
		return false, "a stack that was created as v1alpha1 is changed without one; set spec.workload.preflight to " +
			"Always to try changes"
	case in.After.PreflightMode() == v1alpha2.PreflightNever:
		return false, "spec.workload.preflight is Never"
	case !recreates:
		return false, "the earlier pods serve until the new ones are ready"
	default:
		return false, "a second pod could change the data of the running one, or wait for its devices; " +
			"set spec.workload.preflight to Always to try the change all the same"
	}
}
