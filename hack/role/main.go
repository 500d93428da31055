// Command role converts the operator's ClusterRole to a Role. controller-gen generates the ClusterRole from the markers
// in the code. If the operator is limited to some namespaces, it has this Role in each of them. The Role omits the
// rules for cluster-scoped objects, because a Role cannot grant access to them. It also omits the verbs that only a
// cluster-wide operator needs.
package main

import (
	"fmt"
	"os"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// clusterScoped lists the cluster-scoped resources in the rules.
var clusterScoped = []string{
	"customresourcedefinitions", "customresourcedefinitions/status", "imagecontentsourcepolicies", "imagedigestmirrorsets",
	"imagetagmirrorsets",
	"validatingwebhookconfigurations",
}

// elsewhere maps a resource to the verb that only a cluster-wide operator needs. Only such an operator migrates stored
// stacks.
var elsewhere = map[string]string{"llamastackdistributions": "patch"}

const header = "# Generated from %s by make generate.\n"

// manifest is a Role without the empty fields that the encoding of the Go type would have.
type manifest struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Metadata   map[string]string   `json:"metadata"`
	Rules      []rbacv1.PolicyRule `json:"rules"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: role CLUSTERROLE ROLE")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "role:", err)
		os.Exit(1)
	}
}

func rewrite(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read ClusterRole: %w", err)
	}
	out, err := namespaced(data)
	if err != nil {
		return fmt.Errorf("derive a Role from %s: %w", from, err)
	}
	out = append(fmt.Appendf(nil, header, from), out...)
	if err := os.WriteFile(to, out, 0o644); err != nil { //nolint:gosec // a public file of the repository
		return fmt.Errorf("write Role: %w", err)
	}
	return nil
}

// namespaced returns the Role for a ClusterRole.
func namespaced(data []byte) ([]byte, error) {
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		return nil, fmt.Errorf("parse ClusterRole: %w", err)
	}
	result := manifest{
		APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role", Metadata: map[string]string{"name": role.Name},
	}
	for _, rule := range role.Rules {
		rule.Resources = slices.DeleteFunc(rule.Resources,
			func(resource string) bool { return slices.Contains(clusterScoped, resource) })
		if len(rule.Resources) == 1 {
			rule.Verbs = slices.DeleteFunc(rule.Verbs, func(verb string) bool { return verb == elsewhere[rule.Resources[0]] })
		}
		if len(rule.Resources) > 0 {
			result.Rules = append(result.Rules, rule)
		}
	}
	if len(result.Rules) == 0 {
		return nil, fmt.Errorf("ClusterRole %q has no rule for namespaced resources", role.Name)
	}
	return yaml.Marshal(result)
}
