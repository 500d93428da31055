package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// externalLimit limits the space on the node's disk for the packages of all external providers.
const externalLimit = "8Gi"

// externalPackages is the directory from which the server imports external providers.
const externalPackages = names.ExternalDir + "/" + names.ExternalPackages

// installScript runs the program that installs the copied packages, with the Python interpreter in the server's image.
const installScript = `python=$(command -v python || command -v python3) || {
  echo "this image has no Python" >&2
  echo '{"message":"The image of the server has no Python, which external providers need"}' >` + terminationLog + `
  exit 1
}
exec "$python" "$0" "$@"
`

func hasExternal(in Input) bool { return len(in.External) > 0 }

func externalVolume() *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(names.ExternalVolume).WithEmptyDir(
		corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(externalLimit)))
}

// withInstalledConfig replaces the mount of the generated configuration with a mount of the configuration that the
// installation completes. The generated configuration remains a volume of the pod, because the installation reads it,
// and because the operator keeps each ConfigMap to which a volume of a ReplicaSet refers.
func withInstalledConfig(mounts []*corev1ac.VolumeMountApplyConfiguration) []*corev1ac.VolumeMountApplyConfiguration {
	for _, mount := range mounts {
		if *mount.Name == names.ConfigVolume {
			mount.WithName(names.ExternalVolume).WithSubPath(names.ExternalConfig)
		}
	}
	return mounts
}

// externalContainers returns the containers that copy the package of each external provider from its image, install the
// packages, and complete the configuration for the server's container and the containers that run with its settings.
func externalContainers(
	in Input, server *corev1ac.ContainerApplyConfiguration,
) ([]*corev1ac.ContainerApplyConfiguration, error) {
	if !hasExternal(in) {
		return nil, nil
	}
	if in.Config == nil {
		return nil, errors.New("install external providers: there is no configuration to add them to")
	}
	var containers []*corev1ac.ContainerApplyConfiguration
	for i := range in.External {
		containers = append(containers, copyContainer(i, &in.External[i], server))
	}
	install, err := installContainer(in, server)
	if err != nil {
		return nil, err
	}
	return append(containers, install), nil
}

// installContainer returns the container that installs the packages. It runs the server's image, but without the
// server's environment, because it needs no secrets.
func installContainer(
	in Input, server *corev1ac.ContainerApplyConfiguration,
) (*corev1ac.ContainerApplyConfiguration, error) {
	providers, err := installed(in.External)
	if err != nil {
		return nil, err
	}
	container := corev1ac.Container().
		WithName(names.ExternalContainer).
		WithImage(in.Image).
		WithCommand(shell(installScript, names.StartupDir+"/"+names.ExternalProgram,
			"--config", configPlace(in.Config), "--directory", names.ExternalDir, "--providers", providers)...).
		WithResources(within(server.Resources, installLimits())).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(names.ExternalVolume).WithMountPath(names.ExternalDir),
			corev1ac.VolumeMount().WithName(names.ConfigVolume).WithMountPath(names.ConfigDir).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(names.StartupVolume).WithMountPath(names.StartupDir).WithReadOnly(true),
			withoutToken(names.ExternalVolume)).
		WithSecurityContext(restricted()).
		WithTerminationMessagePath(terminationLog).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile)
	if hasTmp(in) {
		container.WithVolumeMounts(corev1ac.VolumeMount().WithName(names.TmpVolume).WithMountPath(tmpDir))
	}
	container.ImagePullPolicy = server.ImagePullPolicy
	return container, nil
}

// installed returns the list of providers as JSON, for the program that installs them.
func installed(providers []ExternalProvider) (string, error) {
	type entry struct {
		Index  int    `json:"index"`
		API    string `json:"api"`
		ID     string `json:"id"`
		Image  string `json:"image"`
		Path   string `json:"path"`
		Type   string `json:"type"`
		Module string `json:"module"`
	}
	entries := make([]entry, 0, len(providers))
	for i, p := range providers {
		entries = append(entries, entry{
			Index: i, API: p.API, ID: p.ID, Image: p.Image, Path: p.Path, Type: p.Type, Module: p.Module,
		})
	}
	data, err := json.Marshal(entries)
	if err != nil {
		return "", fmt.Errorf("encode the external providers: %w", err)
	}
	return string(data), nil
}

// imported makes Python search the packages of external providers before the packages in the image and on the user's
// own PYTHONPATH. The function runs after the user's patch is applied, because the patch can set PYTHONPATH.
func imported(in Input, template *corev1ac.PodTemplateSpecApplyConfiguration) {
	if !hasExternal(in) {
		return
	}
	for _, container := range containers(template.Spec) {
		switch ptr.Deref(container.Name, "") {
		case names.ServerContainer(in.Stack.Annotations), names.RegistryContainer:
			container.Env = withPackages(container.Env)
		}
	}
}

func withPackages(env []corev1ac.EnvVarApplyConfiguration) []corev1ac.EnvVarApplyConfiguration {
	i := slices.IndexFunc(env, func(e corev1ac.EnvVarApplyConfiguration) bool {
		return ptr.Deref(e.Name, "") == names.EnvPythonPath
	})
	if i < 0 {
		return append(slices.Clone(env), *corev1ac.EnvVar().WithName(names.EnvPythonPath).WithValue(externalPackages))
	}
	own, before := env[i], env[:i]
	path := corev1ac.EnvVar().WithName(names.EnvPythonPath).WithValue(externalPackages)
	switch {
	case own.ValueFrom != nil:
		own.WithName(names.EnvUserPythonPath)
		before = append(slices.Clone(before), own)
		path.WithValue(externalPackages + ":$(" + names.EnvUserPythonPath + ")")
	case ptr.Deref(own.Value, "") != "": // an empty entry would mean the working directory
		path.WithValue(externalPackages + ":" + *own.Value)
	}
	return slices.Concat(before, []corev1ac.EnvVarApplyConfiguration{*path}, env[i+1:])
}

// isExternal reports whether the named container copies or installs external providers.
func isExternal(in Input, container string) bool {
	return hasExternal(in) && (container == names.ExternalContainer ||
		slices.ContainsFunc(in.External,
			func(p ExternalProvider) bool { return container == names.ExternalCopyContainer(p.ID) }))
}
