package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// leavesContainer reports whether the container is left as the image has it, because nothing but a tag says what the server
// in it needs. Pods that were rendered by the tag keep what that gave them.
func leavesContainer(in Input) bool { return in.Distribution.TagAlone() && !in.RenderedByTag }

// asTheImageHas takes out what a release needs of its container, and adds what serves every release.
func asTheImageHas(server render.Server, runtime release.Runtime) render.Server {
	server.Command, server.WritesTemp = nil, false
	server.PortVariables = append(server.PortVariables, otherPortVariable(runtime))
	return server
}

// tagWarning tells what the server would need if its tag told the truth.
func (p *Plan) tagWarning(in Input) {
	resolved, runtime, needs := &in.Distribution, in.Distribution.Release.Runtime, ""
	switch {
	case !leavesContainer(in):
	case runtime.PlainHTTPRefused && !p.ServesTLS && p.Mode != ModeGenerated:
		needs = "an argument to serve plain HTTP"
	case p.input.Config != nil && runtime.ConfigVariable == "" && !p.input.Launcher:
		needs = "a command that reads its configuration"
	}
	if needs == "" || intent.OwnCommand(&in.Object.Spec) {
		return
	}
	p.warn("spec.distribution", "nothing but the tag of image %q says that it holds release %s, which needs %s: the container is left as "+
		"the image has it; give the image the label io.llamastack.server.version when the tag is right, or another tag when it is not",
		resolved.Image, resolved.Release.Line, needs)
}
