package render

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	tmpDir = "/tmp"
	// tmpLimit limits the size of a /tmp that is kept in memory.
	tmpLimit = "256Mi"
)

// volumes returns the operator's volumes followed by the user's, and their mounts. A user's volume replaces the
// operator's volume with the same name, and a user's mount replaces the operator's mount at the same path.
func volumes(in Input) ([]*corev1ac.VolumeApplyConfiguration, []*corev1ac.VolumeMountApplyConfiguration, error) {
	user := intent.Overrides(&in.Stack.Spec)
	volumes, mounts := ownVolumes(in)
	volumes, err := withUsers("spec.workload.overrides.volumes",
		volumes, func(v *corev1ac.VolumeApplyConfiguration) string { return *v.Name },
		user.Volumes, func(v corev1.Volume) string { return v.Name })
	if err != nil {
		return nil, nil, err
	}
	mounts, err = withUsers("spec.workload.overrides.volumeMounts",
		mounts, func(m *corev1ac.VolumeMountApplyConfiguration) string { return path.Clean(*m.MountPath) },
		user.VolumeMounts, func(m corev1.VolumeMount) string { return path.Clean(m.MountPath) })
	return volumes, mounts, err
}

// ownVolumes returns the operator's volumes, and their mounts in the server's container.
func ownVolumes(in Input) ([]*corev1ac.VolumeApplyConfiguration, []*corev1ac.VolumeMountApplyConfiguration) {
	var own mounted
	own.writable(dataVolume(in), MountPath(&in.Stack.Spec))
	own.addFiles(in)
	if hasTmp(in) {
		own.writable(tmpVolume(in.Server.WritesTemp), tmpDir)
	}
	if hasExternal(in) {
		own.readable(externalVolume(), names.ExternalDir)
		own.mounts = withInstalledConfig(own.mounts)
	}
	return own.volumes, own.mounts
}

// mounted holds volumes and their mounts.
type mounted struct {
	volumes []*corev1ac.VolumeApplyConfiguration
	mounts  []*corev1ac.VolumeMountApplyConfiguration
}

func (m *mounted) writable(v *corev1ac.VolumeApplyConfiguration, place string) *corev1ac.VolumeMountApplyConfiguration {
	mount := corev1ac.VolumeMount().WithName(*v.Name).WithMountPath(place)
	m.volumes, m.mounts = append(m.volumes, v), append(m.mounts, mount)
	return mount
}

func (m *mounted) readable(v *corev1ac.VolumeApplyConfiguration, place string) *corev1ac.VolumeMountApplyConfiguration {
	return m.writable(v, place).WithReadOnly(true)
}

// addFiles adds the volumes with the files that the server reads: its configuration, programs, certificates and models.
func (m *mounted) addFiles(in Input) {
	if in.Config != nil {
		m.readable(configVolume(in.Config), names.ConfigDir)
	}
	if startsAnything(in) {
		m.readable(startupVolume(in), names.StartupDir)
	}
	if secret := TLSSecret(&in.Stack.Spec); secret != "" {
		m.readable(tlsVolume(secret), names.TLSDir)
	}
	if in.CABundle != nil {
		m.readable(caVolume(in), names.CADir)
	}
	if volume, part := modelFilesVolume(in); volume != nil {
		mount := m.readable(volume, names.ModelFilesDir)
		if part != "" {
			mount.WithSubPath(part)
		}
	}
}

// hasTmp reports whether /tmp is a volume. In a v1alpha1 stack, /tmp is the image's directory unless the server needs a
// volume.
func hasTmp(in Input) bool { return !of(in).TmpOfImage || in.Server.WritesTemp }

func dataVolume(in Input) *corev1ac.VolumeApplyConfiguration {
	volume := corev1ac.Volume().WithName(names.DataVolume)
	if workload(&in.Stack.Spec).Storage == nil {
		return volume.WithEmptyDir(corev1ac.EmptyDirVolumeSource())
	}
	return volume.WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().
		WithClaimName(names.PersistentVolumeClaim(in.Stack.Name)))
}

// configVolume returns a volume with one key, under the file name to which the environment variables refer, or with the
// whole ConfigMap.
func configVolume(config *Config) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.ConfigMapVolumeSource().WithName(config.ConfigMapName)
	if !config.Whole {
		source.WithItems(corev1ac.KeyToPath().WithKey(config.Key).WithPath(names.ConfigFile))
	}
	return corev1ac.Volume().WithName(names.ConfigVolume).WithConfigMap(source)
}

// tlsVolume returns a volume with only the two keys that the server reads from the Secret.
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
