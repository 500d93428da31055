package installation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// These are the limits of the Kubernetes versions that this version of the operator supports.
const (
	// OldestKubernetes is the oldest supported version.
	OldestKubernetes = "1.30"
	// NewestKubernetes is the newest tested version.
	NewestKubernetes = "1.37"
)

const (
	install   = "install the operator; see docs/how-to/install.md"
	reinstall = "apply the operator's manifests or upgrade its chart again; see docs/how-to/install.md"
)

// checks contains the checks in the order in which they run.
var checks = []struct {
	name  string
	check func(*report, *Facts)
}{
	{"api-server", checkServer},
	{"definition", checkDefinition},
	{"operator", checkOperators},
	{"version", checkVersions},
	{"webhook", checkWebhooks},
	{"certificate", checkCertificate},
	{"policy", checkPolicy},
	{"operator-rights", checkRules},
	{"operator-config", checkConfig},
	{"bounds", checkBounds},
	{"your-rights", checkRights},
	{"stacks", checkStacks},
}

// Examine runs all checks on the facts.
func Examine(facts *Facts) []Finding {
	var findings []Finding
	for _, each := range checks {
		r := &report{check: each.name}
		each.check(r, facts)
		findings = append(findings, r.findings...)
	}
	return findings
}

// Failed reports whether one of the findings is an error.
func Failed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Status == Error })
}

func checkServer(r *report, facts *Facts) {
	if facts.Server.Problem != "" {
		r.unknown("the version of the API server", facts.Server.Problem)
		return
	}
	found, err := version.ParseGeneric(facts.Server.Value)
	if err != nil {
		r.unknown("the version of the API server", fmt.Sprintf("%q is not a version", facts.Server.Value))
		return
	}
	line := fmt.Sprintf("%d.%d", found.Major(), found.Minor())
	switch text := "Kubernetes " + facts.Server.Value; {
	case found.LessThan(version.MustParseGeneric(OldestKubernetes)):
		r.add(Error, text+" is older than "+OldestKubernetes, "upgrade the cluster to "+OldestKubernetes+" or newer")
	case version.MustParseGeneric(NewestKubernetes).LessThan(version.MustParseGeneric(line)):
		r.add(Warning, text+" is newer than "+NewestKubernetes+", the newest version that the operator is tested on",
			"check whether there is a newer version of the operator")
	default:
		r.ok(text + " is supported")
	}
}

func checkPolicy(r *report, facts *Facts) {
	const policy, binding = "ValidatingAdmissionPolicy ", "ValidatingAdmissionPolicyBinding "
	name := names.CustomResourceDefinition
	switch {
	case facts.Policy.Problem != "":
		r.unknown("the admission policy", facts.Policy.Problem)
	case facts.Binding.Problem != "":
		r.unknown("the admission policy binding", facts.Binding.Problem)
	case facts.Policy.Value == nil:
		r.add(Warning, fmt.Sprintf("%s%q does not exist, so the API server accepts some invalid stacks", policy, name),
			reinstall)
	case facts.Binding.Value == nil:
		r.add(Warning, fmt.Sprintf("%s%q does not exist, so the policy has no effect", binding, name), reinstall)
	case !slices.Contains(facts.Binding.Value.Spec.ValidationActions, "Deny"):
		r.add(Warning, fmt.Sprintf("%s%q does not contain the action Deny, so the policy has no effect", binding, name),
			"set spec.validationActions in the binding to [Deny]")
	default:
		r.ok("the admission policy is active")
	}
}

func checkConfig(r *report, facts *Facts) {
	switch {
	case facts.Config.Problem != "":
		r.unknown("the operator's ConfigMap", facts.Config.Problem)
		return
	case facts.Config.Value == nil:
		r.add(Warning, fmt.Sprintf("ConfigMap %q does not exist in namespace %q", names.OperatorConfigMap, facts.Namespace),
			"restart the operator, which then creates the ConfigMap, or set --operator-namespace to the operator's namespace")
		return
	}
	_, problems := operatorconfig.Read(facts.Config.Value, operatorconfig.Config{})
	for _, problem := range problems {
		r.add(Error, fmt.Sprintf("ConfigMap %q: %s: %s", names.OperatorConfigMap, problem.Field, problem.Detail),
			"correct the key; until then, the operator ignores this value and uses the last valid value, if there is one")
	}
	if len(problems) == 0 {
		r.ok(fmt.Sprintf("ConfigMap %q is valid", names.OperatorConfigMap))
	}
}

// checkBounds reports the rule of the key `bounds` that applies to the selected namespace.
func checkBounds(r *report, facts *Facts) {
	if facts.Selected == nil || facts.Config.Problem != "" {
		return
	}
	config, _ := operatorconfig.Read(facts.Config.Value, operatorconfig.Config{})
	selected := facts.Selected.Value
	switch {
	case config.Unknown(operatorconfig.KeyBounds):
		r.add(Error, fmt.Sprintf("the key %q is invalid, so the limits for namespace %q are unknown", operatorconfig.KeyBounds,
			selected.Name), "correct the key; until then, an operator that starts changes no stack")
		return
	case facts.Selected.Problem != "" && config.Bounds.NeedLabels(selected.Name):
		r.unknown(fmt.Sprintf("the labels of namespace %q, on which its limits depend", selected.Name), facts.Selected.Problem)
		return
	}
	rule := config.Bounds.For(selected.Name, selected.Labels)
	switch {
	case rule == nil:
		r.ok(fmt.Sprintf("namespace %q has no limits, because no rule of the key %q applies", selected.Name,
			operatorconfig.KeyBounds))
	case len(rule.Describe()) == 0:
		r.ok(fmt.Sprintf("namespace %q has no limits, because its rule (%s) contains none", selected.Name, rule.Selection()))
	default:
		r.ok(fmt.Sprintf("the limits for namespace %q are, from the rule for %s: %s", selected.Name, rule.Selection(),
			strings.Join(rule.Describe(), "; ")))
	}
}

func checkRights(r *report, facts *Facts) {
	if facts.Rights.Problem != "" {
		r.unknown("your permissions", facts.Rights.Problem)
		return
	}
	missing := 0
	for _, right := range facts.Rights.Value {
		if right.Allowed {
			continue
		}
		missing++
		r.add(Warning, fmt.Sprintf("you do not have permission to %s; without this permission, you cannot %s", right, right.Needed),
			"ask an administrator for that permission")
	}
	if missing == 0 {
		r.ok("you have the permissions that the commands for stacks require")
	}
}

// String describes the permission, with the verb and the resource in the form of the arguments for kubectl auth can-i.
func (r Right) String() string {
	resource := r.Resource
	if r.Group != "" {
		resource += "." + r.Group
	}
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	where := " in all namespaces"
	if r.Namespace != "" {
		where = fmt.Sprintf(" in namespace %q", r.Namespace)
	}
	return r.Verb + " " + resource + where
}

// list returns names as a list for a message.
func list(items []string) string { return strings.Join(items, ", ") }
