package render

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	tmpDir = "/tmp"
	// tmpLimit bounds what the server may write to a /tmp that is kept in memory.
	tmpLimit = "256Mi"
)

// volumes are ours and then the user's; a volume of the user replaces ours of the same name.
func volumes(in Input) ([]*corev1ac.VolumeApplyConfiguration, error) {
	name := func(v corev1.Volume) string { return v.Name }
	given := lastOfEach(overrides(&in.Stack.Spec).Volumes, name)
	own := without(ownVolumes(in), func(v *corev1ac.VolumeApplyConfiguration) string { return *v.Name }, given, name)
	users, err := applyConfiguration[[]*corev1ac.VolumeApplyConfiguration]("spec.workload.overrides.volumes", given)
	return append(own, users...), err
}

func ownVolumes(in Input) []*corev1ac.VolumeApplyConfiguration {
	volumes := []*corev1ac.VolumeApplyConfiguration{dataVolume(in)}
	if in.Config != nil {
		volumes = append(volumes, configVolume(in.Config))
	}
	if in.Registry != nil {
		volumes = append(volumes, startupVolume(in))
	}
	if secret := TLSSecret(&in.Stack.Spec); secret != "" {
		volumes = append(volumes, tlsVolume(secret))
	}
	if in.CABundle != nil {
		volumes = append(volumes, caVolume(in))
	}
	if hasTmp(in) {
		volumes = append(volumes, tmpVolume(in.Server.WritesTemp))
	}
	return volumes
}

// hasTmp says that /tmp is a volume. In a stack of v1alpha1 it is the image's where the server does not need it.
func hasTmp(in Input) bool { return !compat(in) || in.Server.WritesTemp }

func dataVolume(in Input) *corev1ac.VolumeApplyConfiguration {
	volume := corev1ac.Volume().WithName(names.DataVolume)
	if workload(&in.Stack.Spec).Storage == nil {
		return volume.WithEmptyDir(corev1ac.EmptyDirVolumeSource())
	}
	return volume.WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().
		WithClaimName(names.PersistentVolumeClaim(in.Stack.Name)))
}

// configVolume shows one key, under the one file name that the environment points at, or the whole ConfigMap.
func configVolume(config *Config) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.ConfigMapVolumeSource().WithName(config.ConfigMapName)
	if !config.Whole {
		source.WithItems(corev1ac.KeyToPath().WithKey(config.Key).WithPath(names.ConfigFile))
	}
	return corev1ac.Volume().WithName(names.ConfigVolume).WithConfigMap(source)
}

// tlsVolume shows the two keys that the server reads, whatever else the Secret holds.
func tlsVolume(secret string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(names.TLSVolume).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(secret).
		WithItems(
			corev1ac.KeyToPath().WithKey(names.TLSCertificate).WithPath(names.TLSCertificate),
			corev1ac.KeyToPath().WithKey(names.TLSKey).WithPath(names.TLSKey)))
}

func tmpVolume(inMemory bool) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.EmptyDirVolumeSource()
	if inMemory {
		source.WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse(tmpLimit))
	}
	return corev1ac.Volume().WithName(names.TmpVolume).WithEmptyDir(source)
}

// volumeMounts are ours and then the user's; a mount of the user replaces ours at the same path.
func volumeMounts(in Input) ([]*corev1ac.VolumeMountApplyConfiguration, error) {
	place := func(m corev1.VolumeMount) string { return path.Clean(m.MountPath) }
	given := lastOfEach(overrides(&in.Stack.Spec).VolumeMounts, place)
	own := without(ownMounts(in), func(m *corev1ac.VolumeMountApplyConfiguration) string {
		return path.Clean(*m.MountPath)
	}, given, place)
	users, err := applyConfiguration[[]*corev1ac.VolumeMountApplyConfiguration](
		"spec.workload.overrides.volumeMounts", given)
	return append(own, users...), err
}

func ownMounts(in Input) []*corev1ac.VolumeMountApplyConfiguration {
	mounts := []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(names.DataVolume).WithMountPath(MountPath(&in.Stack.Spec)),
	}
	if in.Config != nil {
		mounts = append(mounts, corev1ac.VolumeMount().
			WithName(names.ConfigVolume).WithMountPath(names.ConfigDir).WithReadOnly(true))
	}
	if in.Registry != nil {
		mounts = append(mounts, corev1ac.VolumeMount().
			WithName(names.StartupVolume).WithMountPath(names.StartupDir).WithReadOnly(true))
	}
	if TLSSecret(&in.Stack.Spec) != "" {
		mounts = append(mounts, corev1ac.VolumeMount().
			WithName(names.TLSVolume).WithMountPath(names.TLSDir).WithReadOnly(true))
	}
	if in.CABundle != nil {
		mounts = append(mounts, corev1ac.VolumeMount().
			WithName(names.CAVolume).WithMountPath(names.CADir).WithReadOnly(true))
	}
	if hasTmp(in) {
		mounts = append(mounts, corev1ac.VolumeMount().WithName(names.TmpVolume).WithMountPath(tmpDir))
	}
	return mounts
}
