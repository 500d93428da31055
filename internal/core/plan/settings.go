package plan

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// Settings lists the values of the configuration that the server reads, in the order of the configuration. Nil means
// that the configuration is unknown, because it is only in the image.
func (p *Plan) Settings() []stackconfig.Explained {
	if p.Report != nil {
		return p.Report.Explain()
	}
	origin := OriginBase
	if p.Mode == ModeOverride {
		origin = fmt.Sprintf("spec.overrideConfig (ConfigMap %q)", p.input.Stack.Spec.OverrideConfig.ConfigMapName)
	}
	return stackconfig.Explain(p.root(), origin)
}

// OriginBase is the origin of a value that no field of the spec requests.
const OriginBase = "base"

// Image returns the image of the server's container.
func (p *Plan) Image() string { return p.Rendered.Inputs.Image }
