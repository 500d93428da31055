package validate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podspec"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
)

// containerResources checks the resources of the server's container.
func containerResources(c *checks) {
	if resources := c.workload().Resources; resources != nil {
		c.Add(podspec.Resources(spec("workload", "resources"), resources, c.podNames().Claim)...)
	}
}

func spreadValues(c *checks) {
	c.Add(podspec.Spread(spec("workload", "topologySpreadConstraints"), c.workload().TopologySpreadConstraints)...)
}

func containerEnv(c *checks) {
	path := spec("workload", "overrides")
	c.Add(podspec.Env(path.Child("env"), c.overrides().Env)...)
	c.Add(podspec.EnvFrom(path.Child("envFrom"), c.overrides().EnvFrom)...)
}

func podVolumes(c *checks) {
	path, volumes, mounts := spec("workload", "overrides"), c.overrides().Volumes, c.overrides().VolumeMounts
	c.Add(podspec.Volumes(path.Child("volumes"), volumes)...)
	c.Add(podspec.Mounts(path.Child("volumeMounts"), mounts, c.podNames().Volume)...)
	names, paths := make([]string, len(volumes)), make([]string, len(mounts))
	for i := range volumes {
		names[i] = volumes[i].Name
	}
	for i := range mounts {
		paths[i] = mounts[i].MountPath
		if mounts[i].Name == "" {
			c.Required(path.Child("volumeMounts").Index(i).Child("name"), "required: set the name of a volume")
		}
	}
	if c.overrides().PodTemplate != nil {
		return // a patch merges entries with the same key
	}
	for i, name := range repeated(names) {
		c.duplicate(path.Child("volumes").Index(i).Child("name"), name)
	}
	for i, mountPath := range repeated(paths) {
		c.duplicate(path.Child("volumeMounts").Index(i).Child("mountPath"), mountPath)
	}
}

// podNames returns the names in the stack's pods: those of the operator, of spec.workload.overrides, and of the patch
// for the pod template.
func (c *checks) podNames() podspec.Names {
	patch := c.podPatch()
	return podspec.Names{
		Volume: func(name string) bool {
			is := func(volume corev1.Volume) bool { return volume.Name == name }
			// A patch can change a mount without its name.
			return name == "" || podtemplate.IsOwnVolume(name) || slices.ContainsFunc(c.overrides().Volumes, is) ||
				slices.ContainsFunc(patch.Spec.Volumes, is)
		},
		Claim: func(name string) bool {
			is := func(claim corev1.PodResourceClaim) bool { return claim.Name == name }
			return slices.ContainsFunc(patch.Spec.ResourceClaims, is)
		},
	}
}

// podPatch returns the patch for the pod template, or an empty template if there is none or if it is invalid. It
// decodes the patch once.
func (c *checks) podPatch() *corev1.PodTemplateSpec {
	if c.patch == nil {
		c.patch = &corev1.PodTemplateSpec{}
		if patch := c.overrides().PodTemplate; patch != nil {
			c.patch = cmp.Or(podtemplate.Decode(patch.Raw), c.patch)
		}
	}
	return c.patch
}
