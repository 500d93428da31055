package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A smaller amount than these usually lacks its unit: "512" is 512 bytes, and "512m" is half a byte.
var (
	leastVolume  = resource.MustParse("100Mi")
	leastBytes   = resource.MustParse("1Mi")
	leastRequest = resource.MustParse("8Mi")
	leastLimit   = resource.MustParse("64Mi")
)

// tooManyCPUs is more than any node has. The usual mistake is 500 instead of 500m.
const tooManyCPUs = 500

// amounts warns about amounts that are probably mistakes.
func amounts(c *checks) []string {
	var found amountFindings
	found.least(spec("workload", "storage", "size"), c.volume().Size, leastVolume, "10Gi")
	at, volumes := spec("workload", "overrides", "volumes"), c.overrides().Volumes
	found.volumes(at, volumes)
	found.resources(spec("workload", "resources"), orZero(c.workload().Resources), leastRequest, leastLimit)
	pod := &c.podPatch().Spec
	found.volumes(templatePath("volumes"), pod.Volumes)
	server, _ := c.patchedServer()
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", pod.Containers}, {"initContainers", pod.InitContainers}} {
		for i := range list.containers {
			container, request, limit := &list.containers[i], leastBytes, leastBytes
			if container == server {
				request, limit = leastRequest, leastLimit
			}
			found.resources(templatePath(list.name).Index(i).Child("resources"), &container.Resources, request, limit)
		}
	}
	return found
}

type amountFindings []string

// least warns about an amount of bytes that is too small. An amount of 0 has a meaning of its own.
func (f *amountFindings) least(path *field.Path, amount *resource.Quantity, least resource.Quantity, example string) {
	if amount != nil && amount.Sign() > 0 && amount.Cmp(least) < 0 {
		*f = append(*f, fmt.Sprintf("%s: %q is %s, which is less than %s; write an amount such as %s",
			path, amount, inBytes(amount), &least, example))
	}
}

func inBytes(amount *resource.Quantity) string {
	if amount.MilliValue() < 1000 {
		return "less than one byte"
	}
	return fmt.Sprintf("%d bytes", amount.Value())
}

func (f *amountFindings) volumes(path *field.Path, volumes []corev1.Volume) {
	for i := range volumes {
		path := path.Index(i)
		if empty := volumes[i].EmptyDir; empty != nil {
			f.least(path.Child("emptyDir", "sizeLimit"), empty.SizeLimit, leastBytes, "1Gi")
		}
		if own := volumes[i].Ephemeral; own != nil && own.VolumeClaimTemplate != nil {
			size := own.VolumeClaimTemplate.Spec.Resources.Requests[corev1.ResourceStorage]
			requests := path.Child("ephemeral", "volumeClaimTemplate", "spec", "resources", "requests")
			f.least(requests.Key("storage"), &size, leastVolume, "10Gi")
		}
	}
}

func (f *amountFindings) resources(
	path *field.Path, resources *corev1.ResourceRequirements, request, limit resource.Quantity,
) {
	f.list(path.Child("requests"), resources.Requests, request)
	f.list(path.Child("limits"), resources.Limits, limit)
}

func (f *amountFindings) list(path *field.Path, list corev1.ResourceList, leastMemory resource.Quantity) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		amount, path := list[name], path.Key(string(name))
		prefix, _, hasPrefix := strings.Cut(string(name), "/")
		switch {
		case name == corev1.ResourceMemory:
			f.least(path, &amount, leastMemory, "2Gi")
		case name == corev1.ResourceEphemeralStorage:
			f.least(path, &amount, leastBytes, "2Gi")
		case hasPrefix && !strings.Contains(prefix, "."):
			*f = append(*f, fmt.Sprintf("%s: %q has no domain, and device plugins register names such as nvidia.com/gpu; without a "+
				"plugin for this name, no node can run the pod; correct the name", path, name))
		case name == corev1.ResourceCPU && amount.CmpInt64(tooManyCPUs) >= 0:
			*f = append(*f, fmt.Sprintf("%s: %q is more CPUs than a node has; write an amount such as 2 or 500m", path, &amount))
		}
	}
}
