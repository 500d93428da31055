package stackconfig

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/credential"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// ClearText returns a warning for each credential in clear text in the configuration of an image: values of keys that
// the release marks as secret, and values of keys whose names identify a credential. No warning contains a value.
func ClearText(base *baseconfig.Base, rel *release.Release) []Finding {
	var findings []Finding
	told := map[string]bool{}
	warn := func(path string) {
		if !told[path] {
			told[path] = true
			findings = append(findings, Finding{
				ConfigPath: path,
				Message: "is a credential in clear text, which everyone who can pull the image can read; " +
					"write ${env.NAME} here, and name the Secret in spec.secretEnv of the stack",
			})
		}
	}
	d := draft.New(base, &intent.Intent{MoreVariables: true}, rel, "")
	draft.Resolve(d)
	at := map[string]int{}
	for _, e := range d.Index.Providers {
		path := fmt.Sprintf("providers.%s[%d].config.", e.API, at[e.API])
		at[e.API]++
		if e.Kind == nil {
			continue
		}
		for _, key := range e.Kind.Secrets() {
			value := yamlnode.At(e.Node, "config", key)
			if value != nil && value.Kind == yaml.ScalarNode && !yamlnode.IsNull(value) && credential.IsClearText(value.Value) {
				warn(path + key)
			}
		}
	}
	var value any
	if err := base.Root().Decode(&value); err == nil {
		for _, path := range credential.ClearText(value, nil) {
			warn(path.String())
		}
	}
	return findings[:min(len(findings), intent.MaxErrors)]
}
