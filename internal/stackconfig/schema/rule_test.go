package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

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
	conflict := func(path string) schema.Problem {
		return schema.Problem{Kind: schema.ConflictingKeys, Path: path, Want: "api_key", Fatal: true}
	}
	incomplete := func(path, want string) schema.Problem {
		return schema.Problem{Kind: schema.IncompleteKeys, Path: path, Want: want, Fatal: true}
	}
	choice := schema.Problem{Kind: schema.MissingChoice, Path: "in", Want: "api_key, access_token, http", Fatal: true}
	for text, want := range map[string][]schema.Problem{
		"in: {api_key: a}":                           nil,
		"in: {access_token: a, project: b}":          nil,
		"in: {access_token: a, project: b, http: c}": nil, // only the first excludes the others
		"in: {}":              {choice},
		"in: {api_key: null}": {choice},
		"in: {api_key: ''}":   {choice},
		"in: {api_key: a, access_token: b, project: c}": {conflict("in.access_token")},
		"in: {key: a, http: b}":                         {conflict("in.http")},
		"in: {access_token: a}":                         {incomplete("in.access_token", "project")},
		"in: {api_key: a, project: b}":                  {incomplete("in.project", "access_token")},
		"in: {api_key: a, access_token: null}":          nil,
		"in: {api_key: '${env.A:=}', access_token: '${env.B:=}', project: '${env.C:=}'}": nil,
		"in: {api_key: a, access_token: '${env.B:+x}', project: '${env.C:+x}'}":          nil,
		"in: {api_key: '${env.A}', http: '${env.B:=x}'}":                                 {conflict("in.http")},
		"in: {api_key: '${env.A:=}', http: 'v${env.B:=}'}":                               nil,
		"in: {access_token: a, project: '${env.C:=}'}":                                   nil,
	} {
		t.Run(text, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outer.Check(doc.Content[0])); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	for _, tt := range []struct {
		problem schema.Problem
		want    string
	}{
		{conflict("in.http"), `may not stand beside "api_key"; give one of the two`},
		{incomplete("in.project", "access_token"), "does nothing alone, the server refuses it; give access_token too"},
		{choice, "one of these keys is required: api_key, access_token, http"},
	} {
		if got := tt.problem.Message(); got != tt.want {
			t.Errorf("message %q, want %q", got, tt.want)
		}
	}
}
