package podtemplate

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
)

// Apply merges the patch into a copy of the template. The only container of the template, apart from init containers,
// is the server's container. It comes first in the result. The errors are for the user. Each error names a field of the
// patch. The path of the field begins with the parameter path.
func Apply(template *corev1ac.PodTemplateSpecApplyConfiguration, patch []byte, path *field.Path,
) (*corev1ac.PodTemplateSpecApplyConfiguration, field.ErrorList) {
	result, errs := merge(template, patch, path)
	if len(errs) == 0 {
		// This check needs the complete template, because a patch of one of the operator's own init containers may omit the
		// image.
		errs = guardInitContainers(result.Spec, path.Child("spec", "initContainers"))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return result, nil
}

// merge does the same as Apply, except for the checks that need the complete template.
func merge(template *corev1ac.PodTemplateSpecApplyConfiguration, patch []byte, path *field.Path,
) (*corev1ac.PodTemplateSpecApplyConfiguration, field.ErrorList) {
	changes, errs := read(patch, path)
	if len(errs) > 0 {
		return nil, errs
	}
	before := map[string]any{}
	if err := convert(template, &before); err != nil {
		return nil, broken(path, err)
	}
	original := runtime.DeepCopyJSON(before) // the merge changes both of its arguments
	server := *template.Spec.Containers[0].Name
	aside := setAside(original, changes, server)
	after, err := strategicpatch.StrategicMergeMapPatch(original, changes, corev1.PodTemplateSpec{})
	if err != nil {
		return nil, broken(path, err)
	}
	aside.putBack(after)
	if errs := guard(before, after, server, path); len(errs) > 0 {
		return nil, errs
	}
	serverFirst(after, server)
	result := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := convert(map[string]any(after), result); err != nil {
		return nil, broken(path, err)
	}
	return result, nil
}

// Check returns those errors in a patch that do not depend on the stack. The parameter server is the name of the
// server's container.
func Check(patch []byte, server string, path *field.Path) field.ErrorList {
	_, errs := merge(skeleton(server), patch, path)
	return errs
}

// skeleton returns a template with every part that a stack's template can contain and that a patch must not change. The
// volumes have no source, so that a patch with any source changes them.
func skeleton(server string) *corev1ac.PodTemplateSpecApplyConfiguration {
	container := corev1ac.Container().WithName(server).WithImage("image")
	spec := corev1ac.PodSpec().WithContainers(container)
	for _, volume := range ownVolumes {
		spec.WithVolumes(corev1ac.Volume().WithName(volume.name))
		if volume.mountPath != "" {
			container.WithVolumeMounts(corev1ac.VolumeMount().WithName(volume.name).WithMountPath(volume.mountPath))
		}
	}
	return corev1ac.PodTemplateSpec().WithLabels(names.Selector("stack")).WithSpec(spec)
}

// serverFirst moves the server's container to the first place, which makes it kubectl's default container.
func serverFirst(template map[string]any, server string) {
	containers := items(template, "spec", "containers")
	slices.SortStableFunc(containers, func(a, b any) int {
		switch name(a) == server {
		case name(b) == server:
			return 0
		case true:
			return -1
		default:
			return 1
		}
	})
}

func broken(path *field.Path, err error) field.ErrorList {
	return field.ErrorList{field.Invalid(path, field.OmitValueType{},
		fmt.Sprintf("is not a patch for a pod template: %v", err))}
}

// convert converts a value to another type with the same JSON form.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encode %T: %w", from, err)
	}
	if err := typecheck.Unmarshal(data, to); err != nil {
		return fmt.Errorf("decode %T: %w", to, err)
	}
	return nil
}
