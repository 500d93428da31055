package plan

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// beneathOwnMount handles a user's volume that is mounted at or below the directory of the generated configuration. The
// volume takes precedence over the generated configuration.
//
// If a v1alpha1 stack needs a generated configuration only for the number of workers, the volume contains the stack's
// configuration. In this case, the pods do not mount the generated configuration, no variable refers to it, and the
// registry does not change. In any other case, beneathOwnMount only adds a warning.
func (p *Plan) beneathOwnMount(in Input) {
	at, found := ownMount(&in.Object.Spec)
	if !found {
		return
	}
	if !workersOnly(in.Object) {
		p.warn(at.String(), "a volume is mounted over the generated configuration, so the server cannot read the configuration or does not start: mount the volume "+
			"outside %s, or provide the whole configuration with spec.overrideConfig", names.ConfigDir)
		return
	}
	p.hidden, p.ConfigMapName = p.input.Config, ""
	p.input.Config, p.input.Registry, p.input.Directories = nil, nil, nil
	p.Warnings = append(p.Warnings, workersIgnored(in, "one of your volumes is mounted at "+names.ConfigDir+", and the configuration in this volume takes precedence"))
}

// ownMount returns the field that mounts a user's volume at or below the directory of the configuration.
func ownMount(spec *v1alpha2.LlamaStackDistributionSpec) (*field.Path, bool) {
	workload := field.NewPath("spec", "workload")
	mounts := intent.Overrides(spec).VolumeMounts
	for i := range mounts {
		if inConfigDir(mounts[i].MountPath) {
			return workload.Child("overrides", "volumeMounts").Index(i).Child("mountPath"), true
		}
	}
	return workload.Child("storage", "mountPath"), inConfigDir(render.MountPath(spec))
}

func inConfigDir(place string) bool {
	place = path.Clean(place)
	return place == names.ConfigDir || strings.HasPrefix(place, names.ConfigDir+"/")
}
