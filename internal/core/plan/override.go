package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// checkOverride checks the user's own configuration with the rules for generated configurations, and with the variables
// that the rendered pod sets. It returns an error for a configuration with which the server certainly does not start,
// so that running pods are not replaced. The findings are only warnings if the release is unknown, and if the pods
// already run with the configuration. The user's own command may read another file.
func (p *Plan) checkOverride(in Input) error {
	if p.Mode != ModeOverride {
		return nil
	}
	if intent.OwnCommand(&in.Object.Spec) {
		p.Warnings = append(p.Warnings, check.Misspelled(in.Override.Data)...)
		return nil
	}
	data := in.Override.Data
	if len(in.Intent.External) > 0 {
		data = p.Config // the providers of the copy can be what other providers require
	}
	errs, warnings := check.Override(data, p.pod(in, in.Distribution.Release))
	demoted := p.alreadyRuns(in)
	if in.Distribution.DetectedBy == distribution.Unknown {
		p.keepOfEveryRelease(in, data, &errs, &warnings)
		demoted = true
	}
	if len(errs) > 0 && !demoted {
		return refused(in, &stackconfig.Report{Errors: errs, Warnings: slices.Concat(p.Warnings, warnings)})
	}
	for _, err := range errs {
		if in.Distribution.DetectedBy == distribution.Unknown {
			err.Detail += " (the server release is unknown)"
		}
		p.Warnings = append(p.Warnings, stackconfig.Finding{Path: err.Field, Message: err.Detail})
	}
	p.Warnings = append(p.Warnings, warnings...)
	return nil
}

// pod describes the rendered pod for the check of the user's own configuration.
func (p *Plan) pod(in Input, rel *release.Release) check.Pod {
	pod := check.Pod{
		Release: rel, ReleaseUnknown: in.Distribution.DetectedBy == distribution.Unknown,
		Published: in.Distribution.FromCatalog(), ReadinessProbe: in.Intent.Container.ReadinessProbe,
	}
	links := p.Rendered.Deployment.Spec.Template.Spec.EnableServiceLinks
	pod.ServiceLinks = links == nil || *links
	server := p.Server()
	if server == nil {
		pod.MoreVariables = true
		return pod
	}
	pod.MoreVariables = len(server.EnvFrom) > 0
	for _, variable := range server.Env {
		if variable.ValueFrom != nil || variable.Value != nil && *variable.Value != "" {
			pod.Variables = append(pod.Variables, *variable.Name)
		}
	}
	slices.Sort(pod.Variables)
	return pod
}

// alreadyRuns reports whether the change does not affect the configuration and the image of running pods. A v1alpha2
// stack must also have the same variables and settings. The pods of an earlier operator have no record, and the
// operator keeps them.
func (p *Plan) alreadyRuns(in Input) bool {
	switch running := &in.Running.Record; {
	case in.Running.Deployment == nil:
		return false
	case running.Inputs == "":
		return true
	case profile.Of(in.Object.Annotations).KeepsConfiguration:
		return running.ConfigHash == p.ConfigHash && running.Image == image(in)
	default:
		return running.Inputs == p.Rendered.Record.Inputs
	}
}

// keepOfEveryRelease keeps those findings that the configuration has in every release that users can request.
func (p *Plan) keepOfEveryRelease(in Input, data []byte, errs *field.ErrorList, warnings *[]stackconfig.Finding) {
	for _, line := range release.Offered() {
		match, err := release.Lookup(line)
		if len(*errs)+len(*warnings) == 0 || err != nil {
			break
		}
		others, told := check.Override(data, p.pod(in, match.Release))
		// A configuration can cause tens of thousands of findings.
		places, paths, known := map[string]bool{}, map[string]bool{}, map[stackconfig.Finding]bool{}
		for _, other := range others {
			places[placeOf(other)] = true
		}
		for _, one := range told {
			known[one] = true
			paths[one.ConfigPath] = one.ConfigPath != ""
		}
		*errs = slices.DeleteFunc(*errs, func(one *field.Error) bool { return !places[placeOf(one)] })
		*warnings = slices.DeleteFunc(*warnings, func(one stackconfig.Finding) bool {
			return !known[one] && !paths[one.ConfigPath]
		})
	}
}

// placeOf returns the place in the configuration that a message begins with.
func placeOf(err *field.Error) string {
	place, _, _ := strings.Cut(err.Detail, ": ")
	return place
}
