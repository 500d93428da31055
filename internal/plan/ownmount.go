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

// beneathOwnMount looks for a volume of the user's where the generated configuration would be mounted, which goes before it.
//
// Where nothing but the number of workers asked for a configuration, the stack is one of v1alpha1 that brings its own: the
// server is not led to a file that the volume may lack, nothing is mounted beneath the volume, and the registry is left alone.
// Where the spec says more, the user is told that it has no effect.
func (p *Plan) beneathOwnMount(in Input) {
	at, found := ownMount(&in.Object.Spec)
	if !found {
		return
	}
	if !workersOnly(in.Object) {
		p.warn(at.String(), "a volume is mounted where the generated configuration is, so the server does not see it, or does not start: mount the volume "+
			"outside of %s, or give the whole configuration with spec.overrideConfig", names.ConfigDir)
		return
	}
	p.hidden, p.ConfigMapName = p.input.Config, ""
	p.input.Config, p.input.Registry, p.input.Directories = nil, nil, nil
	p.Warnings = append(p.Warnings, workersIgnored(in, "a volume of your own is mounted at "+names.ConfigDir+", and its configuration decides"))
}

// ownMount is the field of the user's volume at the directory of the configuration or beneath it.
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
