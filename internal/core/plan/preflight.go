package plan

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// serverConfig returns the configuration that the server reads, or nil if it is unknown.
func (p *Plan) serverConfig() []byte {
	switch p.Mode {
	case ModeOverride:
		return p.source.Override.Data
	case ModeImageDefault:
		return p.source.Distribution.Base
	default:
		return p.Config
	}
}

// TriesChange reports whether the operator tests a change in a separate pod before it replaces the running pods
// (decision 0012). If spec.workload.preflight is Auto or unset, the operator tests the change only if this is useful
// and safe. It is useful if the old pods stop before the new pods start. It is safe if the server is not known to store
// data outside its own files, the user sets no command, and the pods request no devices, which may be scarce. In
// addition, the pods must not mount volumes that outlive them, except those with the server's data or model files. An
// unknown configuration is the most likely to fail, so the operator tests it. For a stack that
// was created as v1alpha1, the operator tests changes only if the spec sets the field. startsAlike reports whether the
// change cannot prevent the server from starting (see rollout.Rendered.StartsAlike).
func (p *Plan) TriesChange(startsAlike bool) bool {
	spec, mode := &p.input.Stack.Spec, v1alpha2.PreflightMode("")
	if spec.Workload != nil {
		mode = spec.Workload.Preflight
	}
	switch {
	case mode == v1alpha2.PreflightAlways:
		return true
	case startsAlike, mode == v1alpha2.PreflightNever, mode == "" && profile.Of(p.input.Stack.Annotations).NoPreflight:
		return false
	}
	deployment := p.Rendered.Deployment.Spec
	return *deployment.Strategy.Type == appsv1.RecreateDeploymentStrategyType &&
		!asksForDevices(deployment.Template.Spec) && len(render.SharedVolumes(p.input, deployment.Template)) == 0 &&
		!intent.OwnCommand(spec) && stackconfig.OnlyFiles(p.serverConfig(), p.source.Distribution.Release, p.source.Intent)
}

// asksForDevices reports whether a pod requests extended resources, such as GPUs, or resource claims, which are scarce.
func asksForDevices(pod *corev1ac.PodSpecApplyConfiguration) bool {
	if len(pod.ResourceClaims) > 0 {
		return true
	}
	for i := range pod.Containers {
		resources := pod.Containers[i].Resources
		if resources != nil && (extended(resources.Requests) || extended(resources.Limits)) {
			return true
		}
	}
	return false
}

func extended(list *corev1.ResourceList) bool {
	for name := range ptr.Deref(list, nil) {
		if strings.Contains(string(name), "/") {
			return true
		}
	}
	return false
}

// PreflightName returns the name of the preflight pod of this plan, and of all objects that are created for the pod.
func (p *Plan) PreflightName() (string, error) {
	return render.PreflightName(p.input.Stack.Name, p.Rendered.Deployment.Spec.Template)
}

// PreflightObjects returns the objects that this plan's preflight pod needs, followed by the pod, in apply order. The
// parameter values is the same as in WithStorageSecret. The parameter constraint is the security context constraint
// that admits the running pods.
func (p *Plan) PreflightObjects(values map[string][]byte, constraint string) ([]render.Object, error) {
	preflight := render.Preflight{Template: p.Rendered.Deployment.Spec.Template, Constraint: constraint}
	if len(p.Derived) > 0 {
		preflight.Derived = values
	}
	return render.PreflightObjects(p.input, preflight)
}

// PreflightMode returns the preflight mode in the spec, or an empty string if the spec has none.
func (p *Plan) PreflightMode() v1alpha2.PreflightMode {
	if workload := p.input.Stack.Spec.Workload; workload != nil {
		return workload.Preflight
	}
	return ""
}
