package retention

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Pod is the part of a pod that determines where its server stores data.
type Pod struct {
	// Env holds the variables of the server's container. For a value from a Secret, Env holds a reference to the Secret
	// (see Reference). For a value whose source cannot be determined, it holds Hidden.
	Env map[string]string
	// Volumes lists the volumes of the server's container that outlive the pod, and the volumes that are mounted inside
	// them, sorted by path.
	Volumes []Volume
}

// Reference returns the text that represents a value from a Secret.
func Reference(secret, key string) string { return fmt.Sprintf("{Secret %s, key %s}", secret, key) }

// Hidden represents a value whose source cannot be determined.
const Hidden = "{?}"

// PodOf returns the Pod for a pod's spec. The parameter server is the name of the server's container. The function
// `derived` returns the source of a value in a Secret that the operator created, as Reference or Hidden, and an empty
// string for any other Secret.
func PodOf(spec *corev1.PodSpec, server string, derived func(secret, key string) string) Pod {
	found := Pod{Env: map[string]string{}}
	i := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return c.Name == server })
	if i < 0 {
		return found
	}
	container := &spec.Containers[i]
	for _, variable := range container.Env {
		found.Env[variable.Name] = valueOf(&variable, derived)
	}
	sources := make(map[string]string, len(spec.Volumes))
	for i := range spec.Volumes {
		sources[spec.Volumes[i].Name] = sourceOf(&spec.Volumes[i])
	}
	for _, mount := range container.VolumeMounts {
		found.Volumes = append(found.Volumes, Volume{
			Mount: mount.MountPath, Source: sources[mount.Name], SubPath: cmp.Or(mount.SubPath, mount.SubPathExpr),
		})
	}
	durable := durableMounts(found.Volumes)
	found.Volumes = slices.DeleteFunc(found.Volumes, func(v Volume) bool {
		return v.Source == "" &&
			!inAny(v.Mount, durable)
	})
	if len(found.Volumes) == 0 {
		found.Volumes = nil
	}
	slices.SortStableFunc(found.Volumes, func(a, b Volume) int { return strings.Compare(a.Mount, b.Mount) })
	return found
}

// durableMounts returns the paths of the volumes that outlive the pod.
func durableMounts(volumes []Volume) map[string]bool {
	found := map[string]bool{}
	for _, volume := range volumes {
		if volume.Source != "" {
			found[strings.TrimSuffix(path.Clean(volume.Mount), "/")] = true
		}
	}
	return found
}

// maxPath is the maximum length of a path in Linux.
const maxPath = 4096

// inAny reports whether a path is in one of the volumes.
func inAny(file string, volumes map[string]bool) bool {
	if len(file) > maxPath {
		return false
	}
	for !volumes[file] {
		slash := strings.LastIndexByte(file, '/')
		if slash < 0 {
			return false
		}
		file = file[:slash]
	}
	return true
}

func valueOf(variable *corev1.EnvVar, derived func(secret, key string) string) string {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return variable.Value
	case from.SecretKeyRef != nil:
		return cmp.Or(derived(from.SecretKeyRef.Name, from.SecretKeyRef.Key),
			Reference(from.SecretKeyRef.Name, from.SecretKeyRef.Key))
	default:
		return Hidden
	}
}

// sourceOf returns a description of a volume's storage. It is empty for storage that holds no lasting client data.
func sourceOf(volume *corev1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return "PersistentVolumeClaim " + volume.PersistentVolumeClaim.ClaimName
	case volume.HostPath != nil:
		return "directory " + volume.HostPath.Path + " of the node"
	case volume.NFS != nil:
		return "NFS " + volume.NFS.Server + ":" + volume.NFS.Path
	case volume.EmptyDir != nil, volume.ConfigMap != nil, volume.Secret != nil, volume.Projected != nil,
		volume.DownwardAPI != nil, volume.Ephemeral != nil, volume.Image != nil:
		return ""
	}
	// Volumes of rarely used kinds with equal settings count as the same storage.
	data, err := json.Marshal(volume.VolumeSource)
	if err != nil || string(data) == "{}" {
		return ""
	}
	return short("volume " + volume.Name + " " + digest(data))
}
