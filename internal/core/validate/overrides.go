package validate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podspec"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
)

const maxPodLabels = 64

func (c *checks) overrides() *v1alpha2.WorkloadOverrides { return intent.Overrides(&c.Spec) }

// overridesCount limits the number of items that overrides add to the pods. Package podtemplate has the same limit for
// patches.
func overridesCount(c *checks) {
	o, path := c.overrides(), spec("workload", "overrides")
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
		c.atMost(path.Child(list.name), list.count, podtemplate.MaxEntries)
	}
}

func serviceAccountName(c *checks) {
	if account := c.overrides().ServiceAccountName; account != "" {
		c.objectName(spec("workload", "overrides", "serviceAccountName"), "ServiceAccount", account)
	}
}

func imagePullPolicy(c *checks) {
	pullPolicy(c, spec("workload", "overrides", "imagePullPolicy"), c.overrides().ImagePullPolicy)
}

// imagePullSecrets rejects duplicate names, because server-side apply rejects a list with duplicate names.
func imagePullSecrets(c *checks) {
	path := spec("workload", "overrides", "imagePullSecrets")
	for i, secret := range repeated(c.overrides().ImagePullSecrets) {
		c.duplicate(path.Index(i).Child("name"), secret.Name)
	}
}

func pullPolicy(c *checks, path *field.Path, policy corev1.PullPolicy) {
	intent.OneOf(&c.Errors, path, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

// podLabels checks that labels are valid, and that they do not replace the labels in the selector of the Deployment.
// This selector cannot change.
func podLabels(c *checks) {
	labels, path := c.overrides().PodLabels, spec("workload", "overrides", "podLabels")
	c.atMost(path, len(labels), maxPodLabels)
	_, app := labels[names.LabelApp]
	_, instance := labels[names.LabelInstance]
	if app || instance {
		c.Forbidden(path, "%s and %s select the pods of the Deployment and cannot be changed: remove them", names.LabelApp, names.LabelInstance)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			c.InvalidText(path.Key(key), key, "is not a valid label key: %s", problems[0])
		}
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			c.InvalidText(path.Key(key), labels[key], "is not a valid label value: %s", problems[0])
		}
	}
}

func podAnnotations(c *checks) {
	annotations, path := c.overrides().PodAnnotations, spec("workload", "overrides", "podAnnotations")
	if !c.atMost(path, len(annotations), intent.MaxAnnotations) {
		return
	}
	c.annotationKeys(path, annotations)
}

func (c *checks) annotationKeys(path *field.Path, annotations map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			c.InvalidText(path.Key(key), key, "is not a valid annotation key: %s", problems[0])
		}
	}
}

func terminationGracePeriod(c *checks) {
	if seconds := c.overrides().TerminationGracePeriodSeconds; seconds != nil && *seconds < 0 {
		c.Invalid(spec("workload", "overrides", "terminationGracePeriodSeconds"), *seconds, "%d is too small: use 0 or more",
			*seconds)
	}
}

func podTemplate(c *checks) {
	patch, path := c.overrides().PodTemplate, spec("workload", "overrides", "podTemplate")
	if patch == nil {
		return
	}
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal(patch.Raw, &fields); {
	case err != nil || fields == nil:
		c.Add(field.TypeInvalid(path, field.OmitValueType{}, "must be an object"))
	case len(fields) == 0:
		c.Empty(path)
	default:
		errs := podtemplate.Check(patch.Raw, names.ServerContainer(c.Annotations), path)
		if len(errs) == 0 {
			errs = podspec.Template(path, c.podPatch(), c.podNames())
		}
		c.Add(errs...)
	}
}
