package convert

import (
	"fmt"
	"io"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/absorb"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/manifest"
)

// absorber replaces overrideConfig with fields of the spec. It contains the objects that stacks may refer to.
type absorber struct {
	manifests *dryrun.Manifests
	namespace string
}

func newAbsorber(
	documents []document.Document, from manifests.Sources, stdin io.Reader, p app.Printer,
) (*absorber, error) {
	found := dryrun.Gather(documents, from.Namespace)
	if from.OperatorConfig == "" {
		return &absorber{found, from.Namespace}, nil
	}
	var err error
	found.Config, err = manifests.OperatorConfig(from.OperatorConfig, stdin, p)
	return &absorber{found, from.Namespace}, err
}

// absorb replaces the overrideConfig of a stack with fields of the spec, and warns about each part that cannot be
// replaced. It reports whether the stack can be written.
func (c *converter) absorb(doc document.Document, title string, source *manifest.Source) bool {
	stack := dryrun.DecodeStack(doc, c.absorber.namespace)
	override := stack.Object.Spec.OverrideConfig
	if override == nil {
		c.notes = append(c.notes, title+": the stack has no overrideConfig, so --absorb-config has no effect")
		return true
	}
	named := func(text string) string {
		if stack.Older {
			return convert.OlderPaths(text)
		}
		return text
	}
	result, err := c.absorber.search(stack.Object)
	if err != nil {
		c.problems = append(c.problems, title+": "+named(err.Error()))
		return false
	}
	source.Absorbed = absorbed(result, stack.Object)
	for _, reason := range result.Stays {
		c.warnings = append(c.warnings,
			title+": "+named("spec.overrideConfig")+" cannot be replaced: "+named(reason.String()))
	}
	if len(result.Stays) == 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s: the stack no longer uses ConfigMap %q", title, override.ConfigMapName))
	}
	return true
}

// search returns the fields that replace overrideConfig. A missing ConfigMap causes an error. If, for any other reason,
// the stack cannot be planned, no field replaces overrideConfig, and the result contains the reason.
func (a *absorber) search(object *v1alpha2.LlamaStackDistribution) (absorb.Result, error) {
	if _, err := a.manifests.Contents(object); err != nil {
		return absorb.Result{}, err
	}
	in, _, invalid := validate.Spec(object)
	var stays []absorb.Reason
	for _, err := range invalid {
		stays = append(stays, absorb.Reason{Path: err.Field, Why: err.Detail})
	}
	if len(stays) > 0 {
		return absorb.Result{Stays: stays}, nil
	}
	input, err := a.manifests.Input(object, in, nil)
	if err != nil {
		path, why, _ := strings.Cut(err.Error(), ": ")
		return absorb.Result{Stays: []absorb.Reason{{Path: path, Why: why}}}, nil
	}
	return absorb.Config(input), nil
}

// absorbed returns the result as input for package manifest.
func absorbed(result absorb.Result, object *v1alpha2.LlamaStackDistribution) *manifest.Absorbed {
	written := &manifest.Absorbed{Spec: result.Spec, Env: result.Env}
	for _, reason := range result.Stays {
		written.Stays = append(written.Stays, reason.String())
	}
	if len(result.Stays) > 0 {
		return written
	}
	fields := make([]string, 0, len(result.Spec))
	for _, field := range []string{"providers", "resources", "storage", "settings", "removeSettings", "disabled"} {
		if result.Spec[field] != nil {
			fields = append(fields, field)
		}
	}
	override := object.Spec.OverrideConfig
	written.Remarks = append([]string{fmt.Sprintf("The configuration in ConfigMap %q is now in spec.%s. The operator "+
		"generates the same configuration from the fields of the spec and the distribution's own configuration.",
		override.ConfigMapName, strings.Join(fields, ", spec."))}, result.Remarks...)
	for _, comment := range result.Comments {
		written.Comments = append(written.Comments, manifest.Comment(comment))
	}
	return written
}
