package check

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func TestPermits(t *testing.T) {
	for name, tc := range map[string]struct {
		rules            string
		permitted, known bool
	}{
		"exact":           {`[{permit: {paths: /v1/health}}]`, true, true},
		"a list of paths": {`[{permit: {paths: [/v1/models, /v1/health]}}]`, true, true},
		"prefix":          {`[{permit: {paths: "/v1/h*"}}]`, true, true},
		"everything":      {`[{permit: {paths: "*"}}]`, true, true},
		"expression":      {`[{permit: {paths: "regex:/v1/(health|version)"}}]`, true, true},
		"expression that does not match the beginning": {`[{permit: {paths: "regex:health"}}]`, false, true},
		"no match":                               {`[{permit: {paths: "/v1/models*"}}]`, false, true},
		"forbidden first":                        {`[{forbid: {paths: "/v1/*"}}, {permit: {paths: "*"}}]`, false, true},
		"permitted first":                        {`[{permit: {paths: /v1/health}}, {forbid: {paths: "*"}}]`, true, true},
		"only for users":                         {`[{permit: {paths: "*"}, when: user with admin in roles}]`, false, true},
		"unless a user has a role":               {`[{permit: {paths: "*"}, unless: user with admin in roles}]`, false, true},
		"a variable":                             {`[{permit: {paths: "${env.PATHS}"}}]`, false, false},
		"an expression that Go does not support": {`[{permit: {paths: "regex:(?=/v1).*"}}]`, false, false},
		"a counted repetition":                   {`[{permit: {paths: "regex:(/v1/health){1000}"}}]`, false, false},
		"neither":                                {`[{description: none}]`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(tc.rules), &document); err != nil {
				t.Fatal(err)
			}
			permitted, known := permits(yamlnode.Items(document.Content[0]), "/v1/health")
			if permitted != tc.permitted || known != tc.known {
				t.Errorf("permitted %t, known %t; want %t, %t", permitted, known, tc.permitted, tc.known)
			}
		})
	}
}
