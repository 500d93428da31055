package podspec

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

// native are the resources of Kubernetes itself. Any other resource has a domain, such as nvidia.com/gpu.
var native = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// vendors maps words that users write to the resources that they mean.
var vendors = map[string]string{
	"gpu":     "nvidia.com/gpu; AMD's is amd.com/gpu",
	"gpus":    "nvidia.com/gpu; AMD's is amd.com/gpu",
	"nvidia":  "nvidia.com/gpu",
	"storage": "ephemeral-storage; the size of a volume is spec.workload.storage.size",
	"mem":     "memory",
}

// Resources checks the resources of a container. The parameter claims reports whether the pod has a resource claim with
// this name.
func Resources(
	path *field.Path, resources *corev1.ResourceRequirements, claims func(name string) bool,
) field.ErrorList {
	var c check
	limits, requests := path.Child("limits"), path.Child("requests")
	for _, name := range slices.Sorted(maps.Keys(resources.Limits)) {
		c.amount(limits.Key(string(name)), name, resources.Limits[name])
	}
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request, path := resources.Requests[name], requests.Key(string(name))
		c.amount(path, name, request)
		limit, limited := resources.Limits[name]
		switch {
		case limited && request.Cmp(limit) > 0:
			c.Invalid(path, request.String(), "%s is more than the limit, %s: lower the request or raise the limit", &request, &limit)
		case !overcommits(name) && !limited:
			c.Required(limits.Key(string(name)), "required: the limit of %s must be the same as the request, %s", name, &request)
		case !overcommits(name) && request.Cmp(limit) != 0:
			c.Invalid(path, request.String(), "%s is not the same as the limit, %s: %s cannot be overcommitted", &request, &limit, name)
		}
	}
	c.hugePages(path, resources)
	for i, claim := range resources.Claims {
		if !claims(claim.Name) {
			c.InvalidText(path.Child("claims").Index(i).Child("name"), claim.Name, "is not a resource claim of the pod: add the claim to "+
				"spec.workload.overrides.podTemplate.spec.resourceClaims")
		}
	}
	return c.list()
}

// amount checks the name and the amount of one resource.
func (c *check) amount(path *field.Path, name corev1.ResourceName, amount resource.Quantity) {
	text := string(name)
	huge := strings.HasPrefix(text, corev1.ResourceHugePagesPrefix)
	if problems := validation.IsQualifiedName(text); len(problems) > 0 {
		c.InvalidText(path, text, "is not a name of a resource: %s", problems[0])
		return
	}
	if !strings.Contains(text, "/") && !slices.Contains(native, name) && !huge {
		remedy := "write cpu, memory, ephemeral-storage, hugepages-SIZE, or a name with a domain, such as nvidia.com/gpu"
		if meant := vendors[strings.ToLower(text)]; meant != "" {
			remedy = "write " + meant
		}
		c.InvalidText(path, text, "is not a name of a resource: %s", remedy)
		return
	}
	switch {
	case amount.Sign() < 0:
		c.Invalid(path, amount.String(), "%s is negative: use 0 or more", &amount)
	case strings.Contains(text, "/") && amount.MilliValue()%1000 != 0:
		c.Invalid(path, amount.String(), "%s is not a whole number: use a number such as 1 for %s", &amount, name)
	case huge:
		size, err := quantity.Parse(strings.TrimPrefix(text, corev1.ResourceHugePagesPrefix))
		if err != nil || size.Value() <= 0 || amount.Value()%size.Value() != 0 {
			c.Invalid(path, amount.String(), "%s is not a multiple of the size of the pages: use a multiple of %s", &amount,
				strings.TrimPrefix(text, corev1.ResourceHugePagesPrefix))
		}
	}
}

// hugePages checks that a container with huge pages also requests processor time or memory.
func (c *check) hugePages(path *field.Path, resources *corev1.ResourceRequirements) {
	huge, other := false, false
	for _, list := range []corev1.ResourceList{resources.Limits, resources.Requests} {
		for name := range list {
			huge = huge || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
			other = other || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	if huge && !other {
		c.Forbidden(path, "huge pages require cpu or memory: also set one of them")
	}
}

// overcommits reports whether the requests of a resource can be lower than its limits.
func overcommits(name corev1.ResourceName) bool { return slices.Contains(native, name) }
