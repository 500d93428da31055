package version

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Report contains the versions of the command and of a cluster.
type Report struct {
	Client Client `json:"client"`
	// Server contains the versions of the cluster. Nil means that they were not read.
	Server *Server `json:"server,omitempty"`
	// Skew has a sentence for each pair of versions that do not work together.
	Skew []string `json:"skew"`
}

// Client contains the versions of the command.
type Client struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	// Releases are the server releases whose data is part of the command.
	Releases []string `json:"releases"`
	// Offered are the releases that stacks can set in spec.distribution.version.
	Offered []string `json:"offered"`
}

// Server contains the versions of a cluster.
type Server struct {
	Kubernetes string `json:"kubernetes"`
	// Definition is the version of the CustomResourceDefinition. It is empty if the definition does not state a version,
	// or the caller cannot read it.
	Definition string `json:"definition,omitempty"`
	// APIVersions are the API versions in which the API server serves stacks, the preferred version first.
	APIVersions []string   `json:"apiVersions"`
	Operators   []Operator `json:"operators"`
	// Unlisted reports whether the caller cannot list operator Deployments.
	Unlisted bool `json:"operatorsUnlisted,omitempty"`
	// Stacks counts the stacks by the operator that last wrote their status.
	Stacks []Written `json:"stacks"`
}

// Operator is a Deployment of an operator.
type Operator struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Image     string `json:"image"`
	Ready     int32  `json:"ready"`
	Replicas  int32  `json:"replicas"`
}

// Written is the number of stacks whose status contains the version of one operator.
type Written struct {
	Version string `json:"version"`
	Stacks  int    `json:"stacks"`
}

const (
	// Selector selects the Deployment of this operator in its manifests and its chart.
	Selector = nameLabel + "=llama-stack-k8s-operator"
	// OlderSelector selects the Deployments of operators that were created with kubebuilder, such as the previous
	// operator.
	OlderSelector = "control-plane=controller-manager"

	nameLabel    = "app.kubernetes.io/name"
	versionLabel = "app.kubernetes.io/version"
	operatorName = "llama-stack"
	manager      = "manager"
)

// Operators returns an Operator for each Deployment whose name, name label or image contains "llama-stack".
func Operators(deployments []appsv1.Deployment) []Operator {
	var found []Operator
	for i := range deployments {
		d := &deployments[i]
		image := imageOf(d)
		if !strings.Contains(d.Labels[nameLabel], operatorName) && !strings.Contains(d.Name, operatorName) &&
			!strings.Contains(image, operatorName) {
			continue
		}
		found = append(found, Operator{
			Namespace: d.Namespace, Name: d.Name, Image: image,
			Version: cmp.Or(d.Labels[versionLabel], imagename.Tag(image), "unknown"),
			Ready:   d.Status.ReadyReplicas, Replicas: ptr.Deref(d.Spec.Replicas, 1),
		})
	}
	slices.SortFunc(found, func(a, b Operator) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// imageOf returns the image of the container named manager or, if there is no such container, the image of the first
// container.
func imageOf(d *appsv1.Deployment) string {
	containers := d.Spec.Template.Spec.Containers
	for i := range containers {
		if containers[i].Name == manager {
			return containers[i].Image
		}
	}
	if len(containers) > 0 {
		return containers[0].Image
	}
	return ""
}

// Count counts stacks by the operator that last wrote their status.
func Count(stacks []v1alpha2.LlamaStackDistribution) []Written {
	sums := map[string]int{}
	for i := range stacks {
		version := ""
		if stacks[i].Status.Version != nil {
			version = stacks[i].Status.Version.OperatorVersion
		}
		sums[cmp.Or(version, "none")]++
	}
	found := make([]Written, 0, len(sums))
	for version, number := range sums {
		found = append(found, Written{Version: version, Stacks: number})
	}
	slices.SortFunc(found, func(a, b Written) int {
		return cmp.Or(cmp.Compare(b.Stacks, a.Stacks), cmp.Compare(a.Version, b.Version))
	})
	return found
}

// Text returns the report as text.
func (r *Report) Text() string {
	var out strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "%-14s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	line("Command", "%s (%s)", r.Client.Version, r.Client.Go)
	line("Releases", "%s", strings.Join(r.Client.Releases, ", "))
	if r.Server == nil {
		return out.String()
	}
	for _, operator := range r.Server.Operators {
		line("Operator", "%s in %s/%s, %d of %d pods ready", operator.Version, operator.Namespace, operator.Name,
			operator.Ready, operator.Replicas)
	}
	switch {
	case len(r.Server.Operators) > 0:
	case r.Server.Unlisted:
		line("Operator", "not known")
	default:
		line("Operator", "none found")
	}
	line("Definition", "%s", cmp.Or(r.Server.Definition, "not known"))
	for _, written := range r.Server.Stacks {
		line("Stacks", "%d with operator version %s in the status", written.Stacks, written.Version)
	}
	line("API versions", "%s", cmp.Or(strings.Join(r.Server.APIVersions, ", "), "the API server does not serve the kind LlamaStackDistribution"))
	line("Kubernetes", "%s", r.Server.Kubernetes)
	return out.String()
}
