package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// leavesContainer reports whether the container keeps the settings of the image, because only a tag names the release
// of its server. Pods that were rendered for the release in the tag keep their settings.
func leavesContainer(in Input) bool { return in.Distribution.TagAlone() && !in.RenderedByTag }

// asTheImageHas removes the container settings for a release, and adds those that work with every release.
func asTheImageHas(server render.Server, runtime release.Runtime) render.Server {
	server.Command, server.WritesTemp = nil, false
	server.PortVariables = append(server.PortVariables, otherPortVariable(runtime))
	return server
}

// tagWarning warns of the settings that the server would need if its tag were correct.
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
	p.warn("spec.distribution", "only the tag of image %q indicates that it contains release %s, which needs %s: the container is left as "+
		"the image defines it; if the tag is correct, add the label io.llamastack.server.version to the image, otherwise use another tag",
		resolved.Image, resolved.Release.Line, needs)
}
