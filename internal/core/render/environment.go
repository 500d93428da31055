package render

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// setEnvironment sets the variables of the server's container: the operator's variables followed by the user's, and the
// user's sources of further variables. Each name occurs once, and a user's variable takes precedence.
func setEnvironment(in Input, container *corev1ac.ContainerApplyConfiguration) error {
	var own []*corev1ac.EnvVarApplyConfiguration
	for _, variable := range lastOfEach(ownEnvironment(in), EnvVar.name) {
		own = append(own, variable.applyConfiguration())
	}
	env, err := withUsers("spec.workload.overrides.env",
		own, func(e *corev1ac.EnvVarApplyConfiguration) string { return *e.Name },
		intent.Overrides(&in.Stack.Spec).Env, func(e corev1.EnvVar) string { return e.Name })
	if err != nil {
		return err
	}
	envFrom, err := applyConfiguration[[]*corev1ac.EnvFromSourceApplyConfiguration](
		"spec.workload.overrides.envFrom", intent.Overrides(&in.Stack.Spec).EnvFrom)
	if err != nil {
		return err
	}
	container.WithEnv(env...).WithEnvFrom(envFrom...)
	return nil
}

// ownEnvironment returns the operator's variables in a fixed order, because a variable can refer to an earlier variable
// as $(NAME).
func ownEnvironment(in Input) []EnvVar {
	spec := &in.Stack.Spec
	mountPath := MountPath(spec)
	port := strconv.Itoa(int(Port(spec)))

	env := append([]EnvVar{{Name: names.EnvModelCache, Value: mountPath}}, configVariables(in)...)
	for _, name := range in.Server.PortVariables {
		env = append(env, EnvVar{Name: name, Value: port})
	}
	env = append(env,
		EnvVar{Name: names.EnvPort, Value: port},
		EnvVar{Name: names.EnvWorkers, Value: strconv.Itoa(int(Workers(spec)))})
	if in.Registry != nil {
		env = append(env, EnvVar{Name: names.EnvGeneration, Annotation: names.AnnotationGeneration})
	}
	if in.CABundle != nil {
		env = append(env, caVariables(in)...)
	}
	env = slices.Concat(env, in.Offline, modelFilesVariables(spec.ModelFiles), storageVariables(in))
	return append(env, in.Secrets...)
}

// storageVariables returns the variables with the home directory and the server's directories.
func storageVariables(in Input) []EnvVar {
	if workload(&in.Stack.Spec).Storage == nil || of(in).HomeOfImage {
		return in.Paths
	}
	return append([]EnvVar{{Name: names.EnvHome, Value: MountPath(&in.Stack.Spec)}}, in.Paths...)
}

// OwnVariables returns, in order, the names of the variables that the operator sets on the server's container, except
// those with values from Secrets.
func OwnVariables(in Input) []string {
	in.Secrets = nil
	var variables []string
	for _, variable := range lastOfEach(ownEnvironment(in), EnvVar.name) {
		variables = append(variables, variable.Name)
	}
	return variables
}

// configVariables returns the variables with the path of the configuration. A v1alpha1 stack gets LLAMA_STACK_CONFIG
// even when the operator mounts no configuration, because a user's volume can contain a configuration at that path.
func configVariables(in Input) []EnvVar {
	if in.Config == nil {
		if of(in).NamesConfig {
			return []EnvVar{{Name: names.EnvConfig, Value: names.ConfigPath}}
		}
		return nil
	}
	place := configPlace(in.Config)
	env := []EnvVar{{Name: names.EnvConfig, Value: place}, {Name: names.EnvRunConfig, Value: place}}
	for _, name := range in.Server.ConfigVariables {
		if name != names.EnvConfig && name != names.EnvRunConfig {
			env = append(env, EnvVar{Name: name, Value: place})
		}
	}
	return env
}

// configPlace returns the path of the configuration in the server's container.
func configPlace(config *Config) string {
	if config.Whole {
		return names.ConfigDir + "/" + config.Key
	}
	return names.ConfigPath
}

func (e EnvVar) name() string { return e.Name }

func (e EnvVar) applyConfiguration() *corev1ac.EnvVarApplyConfiguration {
	result := corev1ac.EnvVar().WithName(e.Name)
	switch {
	case e.Annotation != "":
		return result.WithValueFrom(corev1ac.EnvVarSource().WithFieldRef(
			corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + e.Annotation + "']")))
	case e.SecretName == "":
		return result.WithValue(e.Value)
	}
	return result.WithValueFrom(corev1ac.EnvVarSource().WithSecretKeyRef(
		corev1ac.SecretKeySelector().WithName(e.SecretName).WithKey(e.SecretKey)))
}
