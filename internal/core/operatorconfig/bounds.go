package operatorconfig

import (
	"fmt"
	"path"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
)

const boundsHelp = `# Limits for the stacks of a namespace. This is a list of rules, and the first rule
# that matches the namespace applies. A namespace without a rule has no limits. A field
# that a rule omits is not limited; an empty list allows nothing.
# - namespaces: [team-a, "ml-*"]                 # default: every namespace
#   namespaceLabels: {tier: trial}                # labels that the namespace must have
#   images: [registry.example.com, quay.io/team]  # registries, or repository prefixes
#   serviceAccounts: [llama]                      # in addition to the stack's own
#   podTemplate: false                            # overrides.podTemplate is not allowed
#   command: false                                # users cannot set commands or add containers
#   podSecurity: baseline                         # or restricted: a Pod Security Standard
#   stacks: 10                                    # the oldest stacks are admitted first
#   domains: [team-a.example.com]                 # of networking.expose.hostname
#   ingressClasses: [internal]                    # of networking.expose.ingressClassName
#   ingressAnnotations: ["nginx.ingress.kubernetes.io/proxy-*"]
`

func readBounds(r *reader, root node, into *bounds.Bounds) {
	for _, item := range r.items(root) {
		*into = append(*into, r.rule(item))
	}
}

func (r *reader) rule(root node) bounds.Rule {
	var rule bounds.Rule
	r.fields(root, map[string]func(node){
		"namespaces":         func(n node) { rule.Namespaces = r.patterns(n) },
		"namespaceLabels":    func(n node) { rule.NamespaceLabels = r.labels(n) },
		"images":             func(n node) { rule.Images = given(r.texts(n, r.repository)) },
		"serviceAccounts":    func(n node) { rule.ServiceAccounts = given(r.patterns(n)) },
		"podTemplate":        func(n node) { rule.NoPodTemplate = !r.boolean(n) },
		"command":            func(n node) { rule.NoCommand = !r.boolean(n) },
		"podSecurity":        func(n node) { rule.PodSecurity = r.podSecurity(n) },
		"stacks":             func(n node) { rule.Stacks = r.count(n) },
		"domains":            func(n node) { rule.Domains = given(r.names(n)) },
		"ingressClasses":     func(n node) { rule.IngressClasses = given(r.names(n)) },
		"ingressAnnotations": func(n node) { rule.IngressAnnotations = given(r.patterns(n)) },
	})
	return rule
}

// given distinguishes an empty list, which allows nothing, from a missing list.
func given(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// patterns reads names that may contain the wildcards "*" and "?".
func (r *reader) patterns(n node) []string {
	return r.texts(n, func(n node, text string) {
		if _, err := path.Match(text, ""); err != nil || text == "" {
			r.fail(n.path, text, fmt.Sprintf("%q is not a pattern: write a name, with * for any characters and ? for one character", text))
		}
	})
}

// labels reads labels with their values.
func (r *reader) labels(n node) map[string]string {
	labels := map[string]string{}
	for _, e := range r.entries(n, (*field.Path).Key) {
		for _, problem := range validation.IsQualifiedName(e.key) {
			r.fail(e.value.path, e.key, fmt.Sprintf("line %d: %q is not the key of a label: %s", e.value.value.Line, e.key, problem))
		}
		if value, ok := r.text(e.value); ok {
			r.check(e.value, value, validation.IsValidLabelValue)
			labels[e.key] = value
		}
	}
	if len(labels) == 0 && n.value.Kind == yaml.MappingNode && len(n.value.Content) == 0 {
		r.fail(n.path, "", fmt.Sprintf("line %d: must contain a label; remove the field to select namespaces with any labels", n.value.Line))
	}
	return labels
}

// names reads DNS names.
func (r *reader) names(n node) []string {
	return r.texts(n, func(n node, text string) { r.check(n, text, validation.IsDNS1123Subdomain) })
}

func (r *reader) podSecurity(n node) api.Level {
	text, ok := r.text(n)
	if !ok {
		return ""
	}
	level, err := api.ParseLevel(text)
	if err != nil {
		r.fail(n.path, text, fmt.Sprintf("%q is not a Pod Security Standard: write %s, %s or %s", text, api.LevelPrivileged, api.LevelBaseline, api.LevelRestricted))
	}
	return level
}

// count reads a whole number that is not negative.
func (r *reader) count(n node) *int {
	value, err := strconv.Atoi(n.value.Value)
	if err != nil || n.value.Tag != "!!int" || value < 0 {
		r.wrongType(n, "a whole number that is 0 or greater")
		return nil
	}
	return &value
}
