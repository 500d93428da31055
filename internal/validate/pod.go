package validate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/podspec"
	"github.com/llamastack/llama-stack-k8s-operator/internal/podtemplate"
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
	path := spec("workload", "overrides")
	c.Add(podspec.Volumes(path.Child("volumes"), c.overrides().Volumes)...)
	mounts, volumes := c.overrides().VolumeMounts, map[string]bool{}
	paths := map[string]bool{}
	merged := c.overrides().PodTemplate != nil // a patch merges entries with the same key
	for i, volume := range c.overrides().Volumes {
		if volumes[volume.Name] && !merged {
			c.duplicate(path.Child("volumes").Index(i).Child("name"), volume.Name)
		}
		volumes[volume.Name] = true
	}
	for i, mount := range mounts {
		path := path.Child("volumeMounts").Index(i)
		if mount.Name == "" {
			c.Required(path.Child("name"), "required: set the name of a volume")
		}
		if paths[mount.MountPath] && !merged {
			c.duplicate(path.Child("mountPath"), mount.MountPath)
		}
		paths[mount.MountPath] = true
	}
	c.Add(podspec.Mounts(path.Child("volumeMounts"), mounts, c.podNames().Volume)...)
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

// podPatch returns the patch for the pod template, or an empty template if there is none or if it is invalid.
func (c *checks) podPatch() *corev1.PodTemplateSpec {
	if patch := c.overrides().PodTemplate; patch != nil {
		if template := podtemplate.Decode(patch.Raw); template != nil {
			return template
		}
	}
	return &corev1.PodTemplateSpec{}
}
