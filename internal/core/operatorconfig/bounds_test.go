package operatorconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/pod-security-admission/api"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

func TestReadBounds(t *testing.T) {
	ten := 10
	for text, want := range map[string]bounds.Bounds{
		"":                                       nil,
		"[]":                                     nil,
		"null":                                   nil,
		"[{}]":                                   {{}},
		"- podTemplate: true\n  command: true\n": {{}},
		`
- namespaces: [team-a, "ml-*"]
  namespaceLabels: {tier: trial, example.com/region: ""}
  images: [registry.example.com, quay.io/team]
  serviceAccounts: [llama]
  podTemplate: false
  command: false
  podSecurity: baseline
  stacks: 10
  domains: [team-a.example.com]
  ingressClasses: [internal]
  ingressAnnotations: ["nginx.ingress.kubernetes.io/proxy-*"]
- images: []
  serviceAccounts: []
  domains: []
  ingressClasses: []
  ingressAnnotations: []
`: {
			{
				Namespaces:      []string{"team-a", "ml-*"},
				NamespaceLabels: map[string]string{"tier": "trial", "example.com/region": ""},
				Images:          []string{"registry.example.com", "quay.io/team"},
				ServiceAccounts: []string{"llama"}, NoPodTemplate: true, NoCommand: true, PodSecurity: api.LevelBaseline,
				Stacks:  &ten,
				Domains: []string{"team-a.example.com"}, IngressClasses: []string{"internal"},
				IngressAnnotations: []string{"nginx.ingress.kubernetes.io/proxy-*"},
			},
			{
				Images: []string{}, ServiceAccounts: []string{}, Domains: []string{}, IngressClasses: []string{},
				IngressAnnotations: []string{},
			},
		},
	} {
		config, errs := read(operatorconfig.KeyBounds, text)
		if len(errs) > 0 {
			t.Errorf("%s: %v", text, errs)
		}
		if diff := cmp.Diff(want, config.Bounds); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestReadBoundsErrors(t *testing.T) {
	const pattern = ` is not a pattern: write a name, with * for any characters and ? for one character`
	for text, want := range map[string]string{
		"{}":                                "bounds: line 1: must be a list, got a mapping",
		"[{namespaceLabels: {}}]":           "bounds[0].namespaceLabels: line 1: must contain a label; remove the field to select namespaces with any labels",
		"[{namespaceLabels: [a]}]":          "bounds[0].namespaceLabels: line 1: must be a mapping, got a list",
		"[{namespaceLabels: {tier: 1}}]":    `bounds[0].namespaceLabels[tier]: line 1: must be text, got the number "1"; put it in quotes`,
		"[{namespaceLabels: {tier: a b}}]":  `bounds[0].namespaceLabels[tier]: "a b" cannot be used: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		"[{namespaceLabels: {a b: x}}]":     `bounds[0].namespaceLabels[a b]: line 1: "a b" is not the key of a label: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
		"[{namespaceLabels: {a: b, a: c}}]": `bounds[0].namespaceLabels[a]: line 1: duplicate key "a"`,
		"[team-a]":                          `bounds[0]: line 1: must be a mapping, got the text "team-a"`,
		"[{namespace: [a]}]":                `bounds[0].namespace: unknown field; did you mean "namespaces"?`,
		"[{namespaces: ['a[']}]":            `bounds[0].namespaces[0]: "a["` + pattern,
		"[{serviceAccounts: ['']}]":         `bounds[0].serviceAccounts[0]: ""` + pattern,
		"[{stacks: -1}]":                    `bounds[0].stacks: line 1: must be a whole number that is 0 or greater, got the number "-1"`,
		"[{stacks: '1'}]":                   `bounds[0].stacks: line 1: must be a whole number that is 0 or greater, got the text "1"`,
		"[{stacks: 1.5}]":                   `bounds[0].stacks: line 1: must be a whole number that is 0 or greater, got the number "1.5"`,
		"[{podTemplate: 'no'}]":             `bounds[0].podTemplate: line 1: must be true or false, got the text "no"`,
		"[{podSecurity: strict}]":           `bounds[0].podSecurity: "strict" is not a Pod Security Standard: write privileged, baseline or restricted`,
		"[{domains: [Example.com]}]":        "",
		"[{images: [a, a]}]":                `bounds[0].images[1]: "a" is listed twice; remove one of the two entries`,
	} {
		config, errs := read(operatorconfig.KeyBounds, text)
		if len(errs) != 1 || want != "" && errs[0] != want {
			t.Errorf("%s: errors %q, want %q", text, errs, want)
		}
		if !config.Unknown(operatorconfig.KeyBounds) {
			t.Errorf("%s: the bounds count as known although they were never valid", text)
		}
	}
}

// TestBoundsAreKept checks that an invalid value never removes a bound.
func TestBoundsAreKept(t *testing.T) {
	before, _ := read(operatorconfig.KeyBounds, "[{podTemplate: false}]")
	now, _ := operatorconfig.Read(configMap(map[string]string{operatorconfig.KeyBounds: "[{podTemplat: false}]"}), before)
	if diff := cmp.Diff(before.Bounds, now.Bounds); diff != "" || now.Unknown(operatorconfig.KeyBounds) {
		t.Errorf("bounds after a mistake (-want +got):\n%s", diff)
	}
}
