package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// problem reports a problem with the value at a path. It reports an error or a warning at the field that caused the
// problem. If no field wrote the value, it reports only problems that prevent the server from starting.
func (c *checker) problem(p *schema.Problem, path string) {
	origin := c.OriginAt(path)
	switch {
	case p.Kind == schema.MissingKey && c.removed[path] != nil:
		c.Failf(c.removed[path], "the server does not start without %s (%s): keep the key, or set another value in spec.settings", path, p.Want)
	case p.Kind == schema.MissingKey:
		steps := draft.SplitPath(path)
		c.failAt(path, func() string {
			return fmt.Sprintf("the required key %q is missing; its value must be %s", steps[len(steps)-1], p.Want)
		})
	case p.Fatal:
		c.failAt(path, func() string { return p.Message() + c.unsetNote(path) })
	case origin.Path == nil && (origin != draft.FromBase || !c.OwnBase || c.told(p, path)):
	case c.WarningsFull():
		c.CountWarning() // building the message would take longer than the rest of the check
	default:
		c.warnAt(path, c.messageOf(p, path))
	}
}

// told reports whether a key that the server ignores needs no warning of its own: an empty list that only other
// releases read has no effect in any release, and warnDropped reports a list of resources as a whole.
func (c *checker) told(p *schema.Problem, path string) bool {
	value := c.NodeAt(path)
	if p.Kind == schema.UnknownKey && value != nil && value.Kind == yaml.SequenceNode && len(value.Content) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Release.Resources(), func(known release.Resource) bool {
		return known.Dropped && yamlnode.Len(c.ResourcesOf(known)) > 0 &&
			strings.HasPrefix(path, draft.JoinPath(known.Section, known.Kind))
	})
}

// warnIgnoredSection warns about the sections of a base that this release ignores and another release reads, because
// such a section has an effect in the other release (server fact 65). It does not report keys that no release has.
func (c *checker) warnIgnoredSection(p *schema.Problem) {
	if p.Kind != schema.UnknownKey || c.OwnBase || c.OriginAt(p.Path).Path != nil || yamlnode.Len(c.NodeAt(p.Path)) == 0 {
		return
	}
	known := c.messageOf(p, p.Path)
	if known != p.Message() {
		c.Warn(draft.Finding{ConfigPath: p.Path, Message: known})
	}
}

// messageOf returns the message of a problem. For a section that only other releases read, the message names those
// releases or, if a release removed the section, the replacement.
func (c *checker) messageOf(p *schema.Problem, path string) string {
	if p.Kind != schema.UnknownKey {
		return p.Message()
	}
	gone := c.RemovalNote("section", path)
	if kind, ok := strings.CutPrefix(path, release.RegisteredResources+"."); ok {
		gone = c.RemovalNote("resource", kind)
	}
	if gone != "" {
		return fmt.Sprintf("server release %s does not support %s and ignores it%s", c.Release.Line, path, gone)
	}
	if lines := release.LinesWithKey(path, c.Root); len(lines) > 0 {
		return fmt.Sprintf("server release %s does not support %s and ignores it; releases that support it: %s",
			c.Release.Line, path, strings.Join(lines, ", "))
	}
	if c.Release.TopLevel.HasPath(path) {
		return fmt.Sprintf("%s belongs to another type than the chosen one, and the server ignores it; remove the key, or correct the type", path)
	}
	return p.Message()
}

// failAt reports an error in a configuration value, at the field that wrote the value. If no field wrote it, failAt
// reports the error at the path of the value or, if the release is unknown, reports a warning instead. It calls
// `message` only when it reports the error or the warning.
func (c *checker) failAt(path string, message func() string) {
	origin := c.OriginAt(path)
	isWarning := origin.Path == nil && c.Unknown
	switch {
	case !isWarning && c.ErrorsFull():
		c.Fail(&field.Error{Type: field.ErrorTypeInvalid})
	case isWarning && c.WarningsFull():
		c.CountWarning()
	case origin.Path != nil:
		c.Fail(field.Invalid(origin.Path, field.OmitValueType{}, message()))
	case isWarning:
		c.Warn(draft.Finding{
			ConfigPath: path, Message: message() + " (" + sourceOf(origin) + "; the server release is unknown)",
		})
	case c.own != nil:
		c.Fail(ownError(path, message()))
	default:
		c.Fail(&field.Error{
			Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{},
			Detail: message() + " (" + sourceOf(origin) + ")",
		})
	}
}

// sourceOf describes the origin of a value that no field wrote.
func sourceOf(origin draft.Origin) string {
	if origin == draft.FromBase {
		return "in the base configuration"
	}
	return origin.Note
}
