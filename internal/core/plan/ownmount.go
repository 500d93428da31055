package plan

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// beneathOwnMount handles a user's volume that is mounted at or below the directory of the generated configuration, in
// a v1alpha1 stack that needs a generated configuration only for the number of workers. The volume then contains the
// stack's configuration, so the pods do not mount the generated configuration, no variable refers to it, and the
// registry does not change. Package validate reports the volume in any other stack.
func (p *Plan) beneathOwnMount(in Input) {
	if !workersOnly(in.Object) || !ownMount(&in.Object.Spec) {
		return
	}
	p.ConfigMapName, p.input.Config, p.input.Registry, p.input.Directories = "", nil, nil, nil
	p.Warnings = append(p.Warnings, workersIgnored(in, "one of your volumes is mounted at "+names.ConfigDir+", and the configuration in this volume takes precedence"))
}

// ownMount reports whether a volume of the spec is mounted at or below the directory of the configuration.
func ownMount(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return inConfigDir(render.MountPath(spec)) || slices.ContainsFunc(intent.Overrides(spec).VolumeMounts,
		func(mount corev1.VolumeMount) bool { return inConfigDir(mount.MountPath) })
}

func inConfigDir(place string) bool { return within(path.Clean(place), names.ConfigDir) }
