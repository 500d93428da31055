package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// asTheImageHas removes the container settings for a release, and adds settings that work with every release.
func asTheImageHas(server render.Server, runtime release.Runtime) render.Server {
	server.Command, server.WritesTemp = nil, false
	server.PortVariables = append(server.PortVariables, otherPortVariable(runtime))
	return server
}

// tagWarning adds a warning about the settings that the server needs if the tag of its image is correct.
func (p *Plan) tagWarning(in Input) {
	resolved, runtime, needs := &in.Distribution, in.Distribution.Release.Runtime, ""
	switch {
	case !in.Distribution.TagAlone():
	case p.refusesPlainHTTP(in):
		needs = "an argument to serve plain HTTP"
	case p.input.Config != nil && runtime.ConfigVariable == "" && !p.input.Launcher:
		needs = "a command that reads the mounted configuration"
	}
	if needs == "" || intent.OwnCommand(&in.Object.Spec) {
		return
	}
	p.warn("spec.distribution", "only the tag of image %q indicates that the image contains release %s, which needs %s: the operator does not add one to the container; if the tag is correct, add the label io.llamastack.server.version to the image; otherwise, use another tag",
		resolved.Image, resolved.Release.Line, needs)
}

// goneWarning adds a warning about an image from the organization that left Docker Hub, before a node tries to pull it.
func (p *Plan) goneWarning(in Input) {
	now := distribution.MovedTo(in.Distribution.Image)
	if now == "" {
		return
	}
	path := "spec.distribution"
	if in.Object.Spec.Distribution.Image != "" {
		path += ".image"
	}
	p.warn(path, "the images in docker.io/llamastack moved to docker.io/ogxai, so image %q can only be pulled from a mirror: use %q", in.Distribution.Image, now)
}
