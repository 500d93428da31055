package check

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// pathOverride is the field that names a user's own configuration.
const pathOverride = "spec.overrideConfig"

// Pod describes the pod whose server reads a user's own configuration.
type Pod struct {
	// Release is the server's release.
	Release *release.Release
	// ReleaseUnknown reports whether Release is a guess.
	ReleaseUnknown bool
	// Published reports whether the image is a published one. Another image can add provider types and set variables.
	Published bool
	// Variables lists, sorted, the variables that the pod sets.
	Variables []string
	// ServiceLinks reports whether the kubelet sets the variables of the Services in the namespace.
	ServiceLinks bool
	// MoreVariables reports whether envFrom can set further variables, whose names are unknown.
	MoreVariables bool
	// ReadinessProbe reports whether the user replaces the readiness probe.
	ReadinessProbe bool
}

// Override compares a user's own configuration with the rules of a release. The errors are the findings with which the
// server does not start or is never ready. The warnings are about keys, types and values that the server ignores or
// that only the server in the image can check.
func Override(data []byte, pod Pod) (field.ErrorList, []draft.Finding) {
	root, err := baseconfig.Read(data)
	if err != nil {
		return field.ErrorList{ownError("", err.Error())}, nil
	}
	base, err := baseconfig.Parse(data)
	if err != nil {
		return misshapen(root, err, pod.Release)
	}
	in := &intent.Intent{
		Variables: pod.Variables, MoreVariables: pod.MoreVariables,
		Container: intent.Container{ReadinessProbe: pod.ReadinessProbe},
	}
	d := draft.New(base, in, pod.Release, "")
	d.Published, d.OwnBase = pod.Published, true
	draft.Resolve(d)
	c := overrideChecker{checker: checker{
		Draft: d, Finder: draft.NewFinder(d), choices: make(map[string]string), own: &pod,
	}}
	c.rules(func() { c.sections(root) })
	report := d.Finish()
	warnings := make([]draft.Finding, 0, len(report.Warnings))
	for _, finding := range report.Warnings {
		if finding.Path == "" && finding.ConfigPath != "" {
			finding.Message = finding.ConfigPath + ": " + finding.Message
		}
		finding.Path = pathOverride
		warnings = append(warnings, finding)
	}
	return report.Errors, warnings[:min(len(warnings), maxOverrideFindings)]
}

// Misspelled returns only the warnings about references that the server does not replace. They do not depend on the
// pod.
func Misspelled(data []byte) []draft.Finding {
	root, err := baseconfig.Read(data)
	if err != nil {
		return nil
	}
	var found []draft.Finding
	misspelled(root, nil, func(path, message string) {
		if len(found) < maxOverrideFindings {
			found = append(found, draft.Finding{Path: pathOverride, ConfigPath: path, Message: path + ": " + message})
		}
	})
	return found
}

// maxOverrideFindings limits the warnings for one file. Fixing the first findings usually fixes the others too.
const maxOverrideFindings = 20

// ownError returns an error at a place in a user's own configuration.
func ownError(path, message string) *field.Error {
	if path != "" {
		message = path + ": " + message
	}
	return &field.Error{
		Type: field.ErrorTypeInvalid, Field: pathOverride, BadValue: field.OmitValueType{}, Detail: message,
	}
}

// misshapen returns the findings for a configuration that Parse rejects with an error. The server does not check the
// version (server fact 1), and ignores sections that its release does not have.
func misshapen(root *yaml.Node, err error, rel *release.Release) (field.ErrorList, []draft.Finding) {
	problems, errs := rel.TopLevel.Check(root), field.ErrorList(nil)
	for i := range problems {
		if problems[i].Fatal {
			errs = append(errs, ownError(problems[i].Path, problems[i].Message()))
		}
	}
	message := strings.TrimPrefix(err.Error(), "base config: ")
	_, versionOnly := errors.AsType[*baseconfig.UnsupportedVersionError](err)
	if len(errs) > 0 && !versionOnly {
		return errs[:min(len(errs), maxOverrideFindings)], nil
	}
	return errs, []draft.Finding{{Path: pathOverride, Message: message}}
}

type overrideChecker struct{ checker }

// sections checks everything except the backends and the configs of providers. It checks the file as it is written,
// because the server rejects null values that the base of a generated configuration may have.
func (c *overrideChecker) sections(root *yaml.Node) {
	problems := c.Release.TopLevel.Check(root)
	for i := range problems {
		switch p := &problems[i]; {
		case strings.HasPrefix(p.Path, backendsPath):
		case p.Fatal:
			c.Fail(ownError(p.Path, p.Message()+c.unsetNote(p.Path)))
		case !c.told(p, p.Path):
			c.warnAt(p.Path, c.messageOf(p, p.Path))
		}
	}
}
