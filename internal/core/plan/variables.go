package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan/environment"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// variableWarnings warns about the user's variables. For an unknown configuration, it assumes that of the default
// distribution.
func (p *Plan) variableWarnings(in Input) {
	all := environment.OfUser(in.Object, in.Intent)
	if len(all) == 0 {
		return
	}
	root := p.root()
	assumed := root
	if root == nil && p.Mode == ModeImageDefault {
		if known, ok := in.Distribution.Release.Distribution(defaultDistribution); ok {
			assumed = rootOf([]byte(known.YAML))
		}
	}
	p.Warnings = append(p.Warnings, all.Warnings(environment.Server{
		Distribution: &in.Distribution, Config: root, Assumed: assumed,
		Port: render.Port(&in.Object.Spec), Alone: p.alone(),
	})...)
}

// alone reports whether the server is the only program in the rendered pod.
func (p *Plan) alone() bool {
	pod := p.Rendered.Deployment.Spec.Template.Spec
	if pod.HostNetwork != nil && *pod.HostNetwork || len(pod.Containers) > 1 {
		return false
	}
	for i := range pod.InitContainers {
		if pod.InitContainers[i].RestartPolicy != nil {
			return false
		}
	}
	return true
}
