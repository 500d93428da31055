package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

const (
	together    = `: must not be set together with "api_key"; remove one of the two`
	unfinished  = ": is incomplete, and the server rejects it; also set "
	never       = "in.http: the server rejects the combination of http: * and project: true; change one of them"
	conditional = "in: one of these keys is required: project (with http: single)"
	choice      = "in: one of these keys is required: api_key, access_token, http"
)

// rulesCases are the cases of TestRules.
var rulesCases = map[string]string{
	"in: {api_key: a}":                                        "",
	"in: {access_token: a, project: b}":                       "",
	"in: {access_token: a, project: b, http: c}":              "", // only api_key excludes other keys
	"in: {http: single}":                                      conditional,
	"in: {http: ['${env.X}', single]}":                        conditional,
	"in: {http: '${env.X:=single}'}":                          "",
	"in: {http: '*'}":                                         "",
	"in: {http: ['*'], project: yes, access_token: a}":        never,
	"in: {http: ['*'], project: false, access_token: a}":      "",
	"in: {http: ['*'], project: '${env.X}', access_token: a}": "",
	"in: {http: ['*'], project: 1.0, access_token: a}":        "",
	"in: {}":              choice,
	"in: {api_key: null}": choice,
	"in: {api_key: ''}":   choice,
	"in: {api_key: a, access_token: b, project: c}": "in.access_token" + together,
	"in: {key: a, http: b}":                         "in.http" + together,
	"in: {access_token: a}":                         "in.access_token" + unfinished + "project",
	"in: {api_key: a, project: b}":                  "in.project" + unfinished + "access_token",
	"in: {api_key: a, access_token: null}":          "",
	"in: {api_key: '${env.A:=}', access_token: '${env.B:=}', project: '${env.C:=}'}": "",
	"in: {api_key: a, access_token: '${env.B:+x}', project: '${env.C:+x}'}":          "",
	"in: {api_key: '${env.A}', http: '${env.B:=x}'}":                                 "in.http" + together,
	"in: {api_key: '${env.A:=}', http: 'v${env.B:=}'}":                               "",
	"in: {access_token: a, project: '${env.C:=}'}":                                   "",
}

func TestRules(t *testing.T) {
	str := &schema.Expr{Kind: schema.KindAny}
	class := schema.NewClass("Gemini", schema.ExtraIgnore, []schema.Key{
		{Name: "api_key", Aliases: []string{"key"}, Type: str},
		{Name: "access_token", Type: str},
		{Name: "project", Type: str},
		{Name: "http", Type: str},
	})
	class.Rules = []schema.Rule{
		{Kind: schema.Exclusive, Keys: []string{"api_key", "access_token", "http"}},
		{Kind: schema.Together, Keys: []string{"access_token", "project"}},
		{Kind: schema.AnyOf, Keys: []string{"api_key", "access_token", "http"}},
	}
	outer := schema.NewClass("Outer", schema.ExtraIgnore, []schema.Key{
		{Name: "in", Type: &schema.Expr{Kind: schema.KindClass, Class: class}},
	})

	class.Rules = append(class.Rules,
		schema.Rule{Kind: schema.AnyOf, Keys: []string{"project"}, If: []schema.Condition{{Key: "http", Value: "single"}}},
		schema.Rule{
			Kind: schema.Never, Keys: []string{"http"},
			If: []schema.Condition{{Key: "http", Value: "*"}, {Key: "project", Value: "true"}},
		})

	for text, want := range rulesCases {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, messagesOf(t, outer, text)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Rules apply to values, not only to the presence of keys.
func TestValueRules(t *testing.T) {
	str := &schema.Expr{Kind: schema.KindAny}
	class := schema.NewClass("Index", schema.ExtraIgnore, []schema.Key{
		{Name: "lists", Type: str, Default: json.Number("100")},
		{Name: "probes", Aliases: []string{"p"}, Type: str, Default: json.Number("10")},
		{Name: "least", Type: str, Default: json.Number("1")},
		{Name: "most", Type: str, Default: json.Number("10")},
		{Name: "forward", Type: str},
		{Name: "blocked", Type: str},
	})
	class.Rules = []schema.Rule{
		{Kind: schema.Below, Keys: []string{"probes", "lists"}},
		{Kind: schema.NotAbove, Keys: []string{"least", "most"}},
		{Kind: schema.Disjoint, Keys: []string{"forward", "blocked"}},
	}
	for text, want := range map[string]string{
		"{}":                                     "",
		"{lists: 11}":                            "",
		"{lists: 10}":                            "probes: must be less than lists",
		"{p: 100}":                               "probes: must be less than lists",
		"{p: 100, lists: 101}":                   "",
		"{p: '${env.P}', lists: 1}":              "",
		"{forward: {a: X}}":                      "",
		"{forward: {a: X}, blocked: [y, ' x ']}": `forward: must not be set together with "blocked"; remove one of the two`,
		"{forward: {a: X}, blocked: [a]}":        "",
		"{forward: [x], blocked: {k: X}}":        `forward: must not be set together with "blocked"; remove one of the two`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := messagesOf(t, class, text); got != want {
				t.Errorf("problems %q, want %q", got, want)
			}
		})
	}
}

// Limits apply to strings, and to the content of a list or a mapping.
func TestTextLimits(t *testing.T) {
	class := schema.NewClass("Texts", schema.ExtraIgnore, []schema.Key{
		{Name: "template", Type: &schema.Expr{Kind: schema.KindAny}, Limits: &schema.Limits{
			Contains: []string{"{a}", "{b}"}, Pattern: "(?i)search", Means: "text with search",
		}},
		{Name: "headers", Type: &schema.Expr{Kind: schema.KindAny}, Limits: &schema.Limits{Values: &schema.Limits{
			Not: []string{"host", "te"}, Pattern: "^[a-z-]+$",
		}}},
	})
	for text, want := range map[string]string{
		"{template: 'Search {b} {a}'}":     "",
		"{template: 'search {a}'}":         "template: must be text with {b}",
		"{template: '{a} {b}'}":            "template: must be text with search",
		"{template: '${env.T}'}":           "",
		"{headers: [x-y]}":                 "",
		"{headers: {a: x-y, b: ' Host '}}": "headers.b: must be a value other than host, te",
		"{headers: [x-y, X]}":              "headers[1]: must be text that matches ^[a-z-]+$",
	} {
		t.Run(text, func(t *testing.T) {
			if got := messagesOf(t, class, text); got != want {
				t.Errorf("problems %q, want %q", got, want)
			}
		})
	}
}

// messagesOf returns the problems of a text, each with its path, and with a mark if it is not fatal.
func messagesOf(t *testing.T, class *schema.Class, text string) string {
	t.Helper()
	var all strings.Builder
	problems := class.Check(parseYAML(t, text))
	for i := range problems {
		if !problems[i].Fatal {
			all.WriteString("warning ")
		}
		all.WriteString(problems[i].Path + ": " + problems[i].Message())
	}
	return all.String()
}
