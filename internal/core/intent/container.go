package intent

import (
	"encoding/json"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Container is what the user changes in the server's container, including a patch for the pod template.
type Container struct {
	// Home is the value of the variable HOME, or nil if the user does not set it.
	Home *string
	// Mounts are the mount paths of the user's volumes.
	Mounts []string
	// PatchEnv lists the variables that the patch sets.
	PatchEnv []EnvValue
	// ReadinessProbe reports whether the patch contains a readiness probe of any container.
	ReadinessProbe bool
}

// EnvValue is a variable. Value is empty if the value comes from another object.
type EnvValue struct{ Name, Value string }

// patchedPod is the part of a patch for the pod template that Container depends on.
type patchedPod struct {
	Spec struct {
		Containers []struct {
			Name           string
			Env            []EnvValue
			VolumeMounts   []struct{ MountPath string }
			ReadinessProbe json.RawMessage
		}
	}
}

// containerOf ignores an invalid patch, because package podtemplate reports the errors in it.
func containerOf(obj *v1alpha2.LlamaStackDistribution) (own Container) {
	overrides := Overrides(&obj.Spec)
	for i := range overrides.Env {
		own.set(overrides.Env[i].Name, overrides.Env[i].Value)
	}
	for _, mount := range overrides.VolumeMounts {
		own.Mounts = append(own.Mounts, mount.MountPath)
	}
	var patch patchedPod
	if overrides.PodTemplate == nil || json.Unmarshal(overrides.PodTemplate.Raw, &patch) != nil {
		return own
	}
	for _, container := range patch.Spec.Containers {
		own.ReadinessProbe = own.ReadinessProbe || container.ReadinessProbe != nil
		if container.Name != names.ServerContainer(obj.Annotations) {
			continue
		}
		for _, variable := range container.Env {
			own.set(variable.Name, variable.Value)
			own.PatchEnv = append(own.PatchEnv, variable)
		}
		for _, mount := range container.VolumeMounts {
			own.Mounts = append(own.Mounts, mount.MountPath)
		}
	}
	return own
}

func (c *Container) set(variable, value string) {
	if variable == names.EnvHome {
		c.Home = &value
	}
}
