package podtemplate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ownVolumes are the operator's volumes. If a volume has a mount path in this list, a patch must neither remove nor
// change the volume or its mount, because the server reads the operator's files at that path. A patch may change the
// other volumes, but must not remove them.
var ownVolumes = []struct{ name, mountPath string }{
	{names.DataVolume, ""},
	{names.TmpVolume, ""},
	{names.ExternalVolume, ""},
	{names.ModelFilesVolume, ""},
	{names.ConfigVolume, names.ConfigDir},
	{names.TLSVolume, names.TLSDir},
	{names.CAVolume, names.CADir},
	{names.StartupVolume, names.StartupDir},
}

// OwnAnnotations returns the operator's annotations of a pod template. They record what the operator rendered.
func OwnAnnotations() []string { return slices.Clone(ownAnnotations) }

// IsOwnVolume reports whether the operator can add a volume with this name to the pods.
func IsOwnVolume(name string) bool {
	return slices.ContainsFunc(ownVolumes, func(own struct{ name, mountPath string }) bool { return own.name == name })
}

// ownAnnotations are the operator's annotations. They record what the operator rendered, so a patch must not change
// them.
var ownAnnotations = []string{
	names.AnnotationConfigHash, names.AnnotationInputs, names.AnnotationCABundleHash, names.AnnotationGeneration,
}

// guard compares the template before and after the patch.
func guard(before, after map[string]any, server string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	metadata := path.Child("metadata")
	for _, key := range slices.Sorted(maps.Keys(names.Selector(""))) {
		if differ(before, after, "metadata", "labels", key) {
			errs = append(errs, field.Forbidden(metadata.Child("labels").Key(key),
				"selects the pods of the Deployment and cannot be changed: remove this label from the patch"))
		}
	}
	for _, key := range ownAnnotations {
		if differ(before, after, "metadata", "annotations", key) {
			errs = append(errs, field.Forbidden(metadata.Child("annotations").Key(key),
				"belongs to the operator and cannot be changed: remove this annotation from the patch"))
		}
	}
	errs = append(errs, guardVolumes(before, after, path.Child("spec", "volumes"))...)
	errs = append(errs, imageless(after, server, path.Child("spec", "containers"))...)
	return append(errs, guardContainer(before, after, server, path.Child("spec", "containers"))...)
}

func guardContainer(before, after map[string]any, server string, path *field.Path) field.ErrorList {
	was := find(items(before, "spec", "containers"), "name", server)
	now := find(items(after, "spec", "containers"), "name", server)
	path = path.Key(server)
	if now == nil {
		return field.ErrorList{field.Forbidden(path,
			"is the server's container and can be neither removed nor renamed: remove the $patch directive")}
	}
	var errs field.ErrorList
	if differ(was, now, "image") {
		errs = append(errs, field.Forbidden(path.Child("image"),
			"is set by spec.distribution: set spec.distribution.image instead"))
	}
	for _, volume := range ownVolumes {
		if volume.mountPath == "" {
			continue
		}
		mountBefore := find(items(was, "volumeMounts"), "mountPath", volume.mountPath)
		if mountNow := find(items(now, "volumeMounts"), "mountPath", volume.mountPath); !reflect.DeepEqual(mountBefore,
			mountNow) {
			errs = append(errs, field.Forbidden(path.Child("volumeMounts").Key(volume.mountPath),
				fmt.Sprintf("is the path at which the operator mounts volume %q: use another path", volume.name)))
		}
	}
	return errs
}

// imageless reports containers other than the server's that have no image and therefore cannot run. Such a container is
// often a patch of the server's container with a misspelled name.
func imageless(after map[string]any, server string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, item := range items(after, "spec", "containers") {
		object, _ := item.(map[string]any)
		name, _ := object["name"].(string)
		if image, _ := object["image"].(string); image == "" && name != server {
			errs = append(errs, field.Required(path.Key(name).Child("image"), fmt.Sprintf(
				"required: container %q has no image; to change the server's container, use the name %q; to add a container, set an image",
				name, server)))
		}
	}
	return errs
}

// guardInitContainers reports init containers without an image, which cannot run.
func guardInitContainers(pod *corev1ac.PodSpecApplyConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range pod.InitContainers {
		container := &pod.InitContainers[i]
		if name := ptr.Deref(container.Name, ""); ptr.Deref(container.Image, "") == "" {
			errs = append(errs, field.Required(path.Key(name).Child("image"),
				fmt.Sprintf("required: init container %q has no image; set an image", name)))
		}
	}
	return errs
}

func guardVolumes(before, after map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, volume := range ownVolumes {
		was := find(items(before, "spec", "volumes"), "name", volume.name)
		now := find(items(after, "spec", "volumes"), "name", volume.name)
		switch {
		case was != nil && now == nil:
			errs = append(errs, field.Forbidden(path.Key(volume.name), "belongs to the operator and cannot be removed: remove the $patch directive"))
		case volume.mountPath != "" && !reflect.DeepEqual(was, now):
			errs = append(errs, field.Forbidden(path.Key(volume.name),
				"belongs to the operator and cannot be changed: give your volume another name"))
		}
	}
	return errs
}

// differ reports whether the value at a place has changed.
func differ(before, after map[string]any, place ...string) bool {
	return !reflect.DeepEqual(at(before, place...), at(after, place...))
}

// at returns the value at a place, or nil if there is none.
func at(fields map[string]any, place ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(fields, place...) // a value that is not an object has no fields
	return value
}

// items returns the list at a place.
func items(fields map[string]any, place ...string) []any {
	list, _ := at(fields, place...).([]any)
	return list
}

// find returns the item whose key has the value, or nil if there is none.
func find(items []any, key, value string) map[string]any {
	for _, item := range items {
		if object, ok := item.(map[string]any); ok && object[key] == value {
			return object
		}
	}
	return nil
}

func name(item any) any {
	object, _ := item.(map[string]any)
	return object["name"]
}
