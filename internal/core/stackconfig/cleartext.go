package stackconfig

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// ClearText returns a warning for each credential in clear text in the configuration of an image: values of keys that
// the release marks as secret, and values of keys whose names identify a credential. No warning contains a value.
// ClearText returns at most intent.MaxErrors warnings.
func ClearText(base *baseconfig.Base, rel *release.Release) []Finding {
	d := draft.New(base, &intent.Intent{MoreVariables: true}, rel, "")
	draft.Resolve(d)
	var findings []Finding
	seen := map[string]bool{}
	warn := func(path string) {
		if !seen[path] {
			seen[path] = true
			findings = append(findings, Finding{ConfigPath: path, Message: inClearText})
		}
	}
	for path, e := range d.Index.All {
		for _, key := range secretsInClearText(e) {
			warn(path + ".config." + key)
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

const inClearText = "is a credential in clear text, which anyone who can pull the image can read; " +
	"write ${env.NAME} here, and set NAME from a Secret in spec.secretEnv of the stack"

// secretsInClearText returns those secret keys of a provider whose values are text without a reference to a variable.
func secretsInClearText(e *draft.Provider) []string {
	return slices.DeleteFunc(e.Kind.Secrets(), func(key string) bool {
		value := yamlnode.At(e.Node, "config", key)
		return yamlnode.IsNull(value) || value.Kind != yaml.ScalarNode || !credential.IsClearText(value.Value)
	})
}
