package podspec

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// Volumes checks the volumes of a pod.
func Volumes(path *field.Path, volumes []corev1.Volume) field.ErrorList {
	var c check
	for i := range volumes {
		volume, path := &volumes[i], path.Index(i)
		c.name(path.Child("name"), volume.Name, validation.IsDNS1123Label)
		// Without a type, Kubernetes uses emptyDir.
		if types := sources(&volume.VolumeSource); types > 1 {
			c.one(path, types, "configMap, secret, emptyDir, persistentVolumeClaim and the other types of volumes")
		}
		c.source(path, &volume.VolumeSource)
	}
	return c.list()
}

// sources returns the number of pointers that are set in a struct of alternatives.
func sources(alternatives any) int {
	count := 0
	for _, alternative := range reflect.ValueOf(alternatives).Elem().Fields() {
		if alternative.Kind() == reflect.Pointer && !alternative.IsNil() {
			count++
		}
	}
	return count
}

func (c *check) source(path *field.Path, source *corev1.VolumeSource) {
	if s := source.ConfigMap; s != nil {
		path := path.Child("configMap")
		c.name(path.Child("name"), s.Name, subdomain)
		c.files(path, s.DefaultMode, s.Items)
	}
	if s := source.Secret; s != nil {
		path := path.Child("secret")
		c.name(path.Child("secretName"), s.SecretName, subdomain)
		c.files(path, s.DefaultMode, s.Items)
	}
	if s := source.PersistentVolumeClaim; s != nil && s.ClaimName == "" {
		c.Required(path.Child("persistentVolumeClaim", "claimName"), "required: set the name of a claim")
	}
	if s := source.EmptyDir; s != nil && s.SizeLimit != nil && s.SizeLimit.Sign() < 0 {
		size := path.Child("emptyDir", "sizeLimit")
		c.Invalid(size, s.SizeLimit.String(), "%s is negative: use a size such as 1Gi", s.SizeLimit)
	}
	if s := source.HostPath; s != nil {
		path := path.Child("hostPath", "path")
		switch {
		case s.Path == "":
			c.Required(path, "required: set the path of a directory on the node")
		case strings.Contains("/"+s.Path+"/", "/../"):
			c.InvalidText(path, s.Path, `contains "..": write the path without it`)
		}
	}
	if s := source.CSI; s != nil && s.Driver == "" {
		c.Required(path.Child("csi", "driver"), "required: set the name of the driver")
	}
	if s := source.Ephemeral; s != nil && s.VolumeClaimTemplate == nil {
		c.Required(path.Child("ephemeral", "volumeClaimTemplate"), "required: set the template of the claim")
	}
	if s := source.Projected; s != nil {
		c.projected(path.Child("projected"), s)
	}
}

func (c *check) projected(path *field.Path, projected *corev1.ProjectedVolumeSource) {
	c.mode(path.Child("defaultMode"), projected.DefaultMode)
	for i := range projected.Sources {
		source, path := &projected.Sources[i], path.Child("sources").Index(i)
		c.one(path, sources(source), "configMap, secret, downwardAPI, serviceAccountToken and the other types of sources")
		if s := source.ConfigMap; s != nil {
			c.files(path.Child("configMap"), nil, s.Items)
		}
		if s := source.Secret; s != nil {
			c.files(path.Child("secret"), nil, s.Items)
		}
		if s := source.ServiceAccountToken; s != nil {
			if s.Path == "" {
				c.Required(path.Child("serviceAccountToken", "path"), "required: set the path of the file")
			}
			if seconds := s.ExpirationSeconds; seconds != nil && *seconds < 600 {
				path := path.Child("serviceAccountToken", "expirationSeconds")
				c.Invalid(path, *seconds, "%d is too small: use 600 or more", *seconds)
			}
		}
	}
}

// files checks the files of a volume from a ConfigMap or Secret.
func (c *check) files(path *field.Path, mode *int32, items []corev1.KeyToPath) {
	c.mode(path.Child("defaultMode"), mode)
	for i, item := range items {
		path := path.Child("items").Index(i)
		if item.Key == "" {
			c.Required(path.Child("key"), "required: set a key")
		}
		if item.Path == "" {
			c.Required(path.Child("path"), "required: set the path of the file in the volume")
		}
		c.relative(path.Child("path"), item.Path)
		c.mode(path.Child("mode"), item.Mode)
	}
}

// Mounts checks the mounts of a container. The parameter volumes reports whether the pod has a volume with this name.
func Mounts(path *field.Path, mounts []corev1.VolumeMount, volumes func(name string) bool) field.ErrorList {
	var c check
	for i := range mounts {
		mount, path := &mounts[i], path.Index(i)
		if !volumes(mount.Name) {
			c.InvalidText(path.Child("name"), mount.Name, "is not a volume of the pod: add the volume to spec.workload.overrides.volumes")
		}
		if mount.MountPath == "" {
			c.Required(path.Child("mountPath"), "required: set a path in the container")
		}
		c.relative(path.Child("subPath"), mount.SubPath)
		c.relative(path.Child("subPathExpr"), mount.SubPathExpr)
		if mount.SubPath != "" && mount.SubPathExpr != "" {
			c.Forbidden(path.Child("subPathExpr"), "subPath is also set: keep one of them")
		}
		if p := mount.MountPropagation; p != nil {
			if *p == "" {
				c.Required(path.Child("mountPropagation"), "required: use None, HostToContainer or Bidirectional, or remove the field")
			}
			intent.OneOf(&c.Errors, path.Child("mountPropagation"), *p,
				corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional)
		}
	}
	return c.list()
}
