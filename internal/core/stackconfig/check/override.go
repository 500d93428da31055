package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// pathOverride is the field that names a user's own configuration.
const pathOverride = "spec.overrideConfig"

// Pod describes the pod whose server reads a user's own configuration.
type Pod struct {
	// Release is the server's release.
	Release *release.Release
	// Published reports whether the image is a published one. Another image can add provider types and set variables.
	Published bool
	// Variables lists, sorted, the variables that the pod sets.
	Variables []string
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
	draft.Resolve(d)
	c := overrideChecker{checker: checker{
		Draft: d, Finder: draft.NewFinder(d), choices: make(map[string]string), own: &pod,
	}}
	c.rules(func() {
		c.sections(root)
		c.types()
	})
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
	misspelled(root, "", func(path, message string) {
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
		p, value := &problems[i], c.NodeAt(problems[i].Path)
		switch {
		case strings.HasPrefix(p.Path, backendsPath):
		case p.Fatal:
			c.Fail(ownError(p.Path, p.Message()+c.unsetNote(p.Path)))
		case p.Kind == schema.UnknownKey && value != nil && value.Kind == yaml.SequenceNode && len(value.Content) == 0:
			// an empty list that only other releases read has no effect
		default:
			c.warnAt(p.Path, c.messageOf(p, p.Path))
		}
	}
}

// types reports providers whose type the release does not have, and the keys that the server ignores.
func (c *overrideChecker) types() {
	external := !yamlnode.IsNull(yamlnode.Get(c.Root, "external_providers_dir"))
	for path, e := range c.Index.All {
		api, known := c.Release.API(e.API)
		switch {
		case !known || !api.Providable || !c.mayExist(e):
		case e.Kind == nil && !external && yamlnode.Get(e.Node, "module") == nil &&
			!envref.In(e.ProviderType) && e.ProviderType != externalprovider.UnknownType:
			c.unknownType(path, e)
		case e.Kind != nil && e.Enabled:
			problems := e.Kind.Config.Check(yamlnode.Get(e.Node, "config"))
			for i := range problems {
				if !problems[i].Fatal {
					c.warnAt(draft.JoinPath(path+".config", problems[i].Path), problems[i].Message())
				}
			}
		}
	}
}

// mayExist reports whether the server creates a provider when the variables of the pod are set.
func (c *overrideChecker) mayExist(e *draft.Provider) bool {
	return e.ID != draft.DisabledID && (e.Condition == "" || c.Intent.MoreVariables || !c.own.Published ||
		slices.Contains(c.Intent.Variables, e.Condition))
}

func (c *overrideChecker) unknownType(path string, e *draft.Provider) {
	message := fmt.Sprintf("%q is not a type of %s provider in release %s%s", e.ProviderType, draft.APIField(e.API),
		c.Release.Line, providers.MeantType(c.Draft, &intent.Provider{API: e.API, Type: e.ProviderType}))
	if c.own.Published {
		c.Fail(ownError(path, message))
		return
	}
	c.warnAt(path, message)
}
