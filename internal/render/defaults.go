package render

import (
	corev1 "k8s.io/api/core/v1"
)

// The API server fills fields in, and what it filled in is not ours: when a user replaces a volume's ConfigMap by a
// Secret of the same name, server-side apply takes back what we wrote and leaves what the server added, which is then
// half a volume and refused. So what goes by alternatives is written whole.

const (
	// fileMode is Kubernetes' default for files of a volume.
	fileMode int32 = 0o644
	// tokenSeconds is Kubernetes' default for the life of a projected token.
	tokenSeconds int64 = 3600
	// fieldVersion is Kubernetes' default for the version that a field path is of.
	fieldVersion = "v1"
)

// completeVolume returns a copy of a user's volume with the server's defaults.
func completeVolume(volume corev1.Volume) corev1.Volume {
	volume = *volume.DeepCopy()
	switch source := &volume.VolumeSource; {
	case source.ConfigMap != nil:
		setDefault(&source.ConfigMap.DefaultMode, fileMode)
	case source.Secret != nil:
		setDefault(&source.Secret.DefaultMode, fileMode)
	case source.DownwardAPI != nil:
		setDefault(&source.DownwardAPI.DefaultMode, fileMode)
		completeFields(source.DownwardAPI.Items)
	case source.Projected != nil:
		setDefault(&source.Projected.DefaultMode, fileMode)
		for i := range source.Projected.Sources {
			completeProjection(&source.Projected.Sources[i])
		}
	case source.HostPath != nil:
		setDefault(&source.HostPath.Type, corev1.HostPathUnset)
	case source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil:
		setDefault(&source.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
	return volume
}

func completeProjection(source *corev1.VolumeProjection) {
	if token := source.ServiceAccountToken; token != nil {
		setDefault(&token.ExpirationSeconds, tokenSeconds)
	}
	if source.DownwardAPI != nil {
		completeFields(source.DownwardAPI.Items)
	}
}

func completeFields(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		if ref := items[i].FieldRef; ref != nil && ref.APIVersion == "" {
			ref.APIVersion = fieldVersion
		}
	}
}

// completeVariable returns a copy of a user's variable with the server's defaults.
func completeVariable(variable corev1.EnvVar) corev1.EnvVar {
	variable = *variable.DeepCopy()
	if from := variable.ValueFrom; from != nil && from.FieldRef != nil && from.FieldRef.APIVersion == "" {
		from.FieldRef.APIVersion = fieldVersion
	}
	return variable
}

func setDefault[T any](target **T, value T) {
	if *target == nil {
		*target = &value
	}
}

func each[T any](items []T, change func(T) T) []T {
	result := make([]T, len(items))
	for i, item := range items {
		result[i] = change(item)
	}
	return result
}
