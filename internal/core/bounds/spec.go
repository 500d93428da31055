package bounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// remedy ends each message, because only an administrator can change a bound.
const remedy = "ask an administrator to change the key \"bounds\" in the operator's ConfigMap"

// Image checks an image before the operator reads from the image's registry. path is the field that selects the image.
func (r *Rule) Image(image string, path *field.Path) field.ErrorList {
	if r == nil || r.Images == nil || comesFrom(image, r.Images) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("the image %q is not from a source that is allowed in this namespace: %s%s",
		image, use("an image from", r.Images), remedy))}
}

// comesFrom reports whether an image is in one of the registries, or below a repository prefix.
func comesFrom(image string, allowed []string) bool {
	repository, err := imagename.Repository(image)
	return err == nil && imagename.HasAnyPrefix(repository, imagename.Prefixes(allowed))
}

// Spec checks the fields of a stack's spec for which the rule has bounds. expose is nil if the stack is not exposed.
func (r *Rule) Spec(spec *v1alpha2.LlamaStackDistributionSpec, expose *v1alpha2.ExposeSpec) field.ErrorList {
	if r == nil {
		return nil
	}
	return append(r.overrides(spec.Workload), r.expose(expose)...)
}

func (r *Rule) overrides(workload *v1alpha2.WorkloadSpec) field.ErrorList {
	if workload == nil || workload.Overrides == nil {
		return nil
	}
	var errs field.ErrorList
	forbid := func(name string) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "workload", "overrides", name),
			"is not allowed in this namespace: remove this field, or "+remedy))
	}
	overrides := workload.Overrides
	switch patch := overrides.PodTemplate; {
	case patch == nil:
	case r.NoPodTemplate:
		forbid("podTemplate")
	case r.NoCommand:
		errs = append(errs, commands(patch.Raw, field.NewPath("spec", "workload", "overrides", "podTemplate"))...)
	}
	if r.NoCommand && len(overrides.Command) > 0 {
		forbid("command")
	}
	if r.NoCommand && len(overrides.Args) > 0 {
		forbid("args")
	}
	for i := range overrides.Volumes {
		if image := imageOf(&overrides.Volumes[i]); image != "" {
			path := field.NewPath("spec", "workload", "overrides", "volumes").Index(i).Child("image", "reference")
			errs = append(errs, r.Image(image, path)...)
		}
	}
	return errs
}

func (r *Rule) expose(expose *v1alpha2.ExposeSpec) field.ErrorList {
	if expose == nil {
		return nil
	}
	var errs field.ErrorList
	path := field.NewPath("spec", "networking", "expose")
	outside := func(path *field.Path, value, what string, allowed []string) {
		choice := cmp.Or(use(what, allowed), "remove the field, or ")
		errs = append(errs, field.Invalid(path, value,
			fmt.Sprintf("%q is not allowed in this namespace: %s%s", value, choice, remedy)))
	}
	if host := expose.Hostname; host != "" && r.Domains != nil && !inDomain(host, r.Domains) {
		outside(path.Child("hostname"), host, "a host name in", r.Domains)
	}
	if class := expose.IngressClassName; class != "" && r.IngressClasses != nil &&
		!slices.Contains(r.IngressClasses, class) {
		outside(path.Child("ingressClassName"), class, "one of", r.IngressClasses)
	}
	for _, key := range slices.Sorted(maps.Keys(expose.Annotations)) {
		if !r.allowsAnnotation(key, expose.Annotations[key]) {
			outside(path.Child("annotations").Key(key), key, "one of", r.IngressAnnotations)
		}
	}
	return errs
}

// inDomain reports whether a host name is one of the domains or a subdomain of one of them.
func inDomain(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

// use returns the first part of a remedy, which suggests the allowed values, or "" if no value is allowed. The caller
// appends an alternative.
func use(what string, allowed []string) string {
	if len(allowed) == 0 {
		return ""
	}
	return fmt.Sprintf("use %s %s; or ", what, strings.Join(allowed, ", "))
}
