package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/podtemplate"
)

const maxPodLabels = 64

func overrides(obj *object) *v1alpha2.WorkloadOverrides {
	if o := workload(obj).Overrides; o != nil {
		return o
	}
	return &v1alpha2.WorkloadOverrides{}
}

// overridesCount bounds what is added to the pods, as podtemplate does what is patched.
func overridesCount(obj *object) field.ErrorList {
	o, path := overrides(obj), spec("workload", "overrides")
	var errs field.ErrorList
	for _, list := range []struct {
		name  string
		count int
	}{
		{"imagePullSecrets", len(o.ImagePullSecrets)},
		{"env", len(o.Env)},
		{"envFrom", len(o.EnvFrom)},
		{"command", len(o.Command)},
		{"args", len(o.Args)},
		{"volumes", len(o.Volumes)},
		{"volumeMounts", len(o.VolumeMounts)},
	} {
		errs = append(errs, atMost(path.Child(list.name), list.count, podtemplate.MaxEntries)...)
	}
	return errs
}

func serviceAccountName(obj *object) field.ErrorList {
	if overrides(obj).ServiceAccountName == "" {
		return nil
	}
	return objectName(spec("workload", "overrides", "serviceAccountName"), "ServiceAccount", overrides(obj).ServiceAccountName)
}

func imagePullPolicy(obj *object) field.ErrorList {
	return pullPolicy(spec("workload", "overrides", "imagePullPolicy"), overrides(obj).ImagePullPolicy)
}

// imagePullSecrets: a server-side apply refuses a list in which two items have one name.
func imagePullSecrets(obj *object) field.ErrorList {
	var errs field.ErrorList
	secrets, path := overrides(obj).ImagePullSecrets, spec("workload", "overrides", "imagePullSecrets")
	for _, i := range slices.Sorted(maps.Keys(repeated(secrets))) {
		errs = append(errs, duplicate(path.Index(i).Child("name"), secrets[i].Name))
	}
	return errs
}

func pullPolicy(path *field.Path, policy corev1.PullPolicy) field.ErrorList {
	return oneOf(path, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

// podLabels holds that the selector of a Deployment, which cannot change, still
// selects its pods.
func podLabels(obj *object) field.ErrorList {
	labels, path := overrides(obj).PodLabels, spec("workload", "overrides", "podLabels")
	errs := atMost(path, len(labels), maxPodLabels)
	_, app := labels[names.LabelApp]
	_, instance := labels[names.LabelInstance]
	if app || instance {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf(
			"%s and %s select the pods of the Deployment and cannot be changed: remove them", names.LabelApp, names.LabelInstance)))
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			errs = append(errs, field.Invalid(path.Key(key), key, fmt.Sprintf("%q cannot be the key of a label: %s", key, problems[0])))
		}
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			errs = append(errs, field.Invalid(path.Key(key), labels[key],
				fmt.Sprintf("%q cannot be the value of a label: %s", labels[key], problems[0])))
		}
	}
	return errs
}

func podAnnotations(obj *object) field.ErrorList {
	var errs field.ErrorList
	path := spec("workload", "overrides", "podAnnotations")
	if errs := atMost(path, len(overrides(obj).PodAnnotations), intent.MaxAnnotations); len(errs) > 0 {
		return errs
	}
	for _, key := range slices.Sorted(maps.Keys(overrides(obj).PodAnnotations)) {
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			errs = append(errs, field.Invalid(path.Key(key), key,
				fmt.Sprintf("%q cannot be the key of an annotation: %s", key, problems[0])))
		}
	}
	return errs
}

func terminationGracePeriod(obj *object) field.ErrorList {
	seconds := overrides(obj).TerminationGracePeriodSeconds
	if seconds == nil || *seconds >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(spec("workload", "overrides", "terminationGracePeriodSeconds"), *seconds,
		fmt.Sprintf("%d is too small: take 0 or more", *seconds))}
}

func podTemplate(obj *object) field.ErrorList {
	patch := overrides(obj).PodTemplate
	if patch == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	path := spec("workload", "overrides", "podTemplate")
	switch err := json.Unmarshal(patch.Raw, &fields); {
	case err != nil || fields == nil:
		return field.ErrorList{field.TypeInvalid(path, field.OmitValueType{}, "must be an object")}
	case len(fields) == 0:
		return field.ErrorList{field.Required(path, "must not be empty; leave the field out to have the default")}
	}
	return podtemplate.Check(patch.Raw, names.ServerContainer(obj.Annotations), path)
}
