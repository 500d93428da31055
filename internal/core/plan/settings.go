package plan

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan/settingpath"
)

// Setting is one value of the configuration that the server reads.
type Setting struct {
	// Path is the path of the value. IDs identify the entries of a list, for example providers.inference[vllm].config.url.
	Path string
	// Value is the value at this path. An empty collection is {} or [].
	Value string
	// Origin is the origin of the value: a field of the spec, or OriginBase.
	Origin string
}

// OriginBase is the origin of a value that no field of the spec requests.
const OriginBase = "base"

// Settings lists the values of the configuration that the server reads, in the order of the configuration. Nil means
// that the configuration is unknown, because it is only in the image.
func (p *Plan) Settings() []Setting {
	var found []Setting
	if root := p.root(); root != nil {
		settingpath.Visit(root, func(path, value string) {
			found = append(found, Setting{Path: path, Value: value, Origin: OriginBase})
		})
	}
	switch {
	case p.Report != nil:
		// Explain lists the values in the same order as settingpath.Visit.
		for i, value := range p.Report.Explain() {
			found[i].Origin = value.Origin
		}
	case p.Mode == ModeOverride:
		for i := range found {
			found[i].Origin = fmt.Sprintf("spec.overrideConfig (ConfigMap %q)",
				p.input.Stack.Spec.OverrideConfig.ConfigMapName)
		}
	}
	return found
}

// Image returns the image of the server's container.
func (p *Plan) Image() string { return p.Rendered.Inputs.Image }
