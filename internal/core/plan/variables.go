package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// variable is a variable that the user sets. Value is empty if the value comes from another object.
type variable struct {
	path, name, value string
}

// userVariables returns the variables in the spec.
func userVariables(in Input) []variable {
	var all []variable
	overrides := field.NewPath("spec", "workload", "overrides")
	for i, one := range intent.Overrides(&in.Object.Spec).Env {
		all = append(all, variable{overrides.Child("env").Index(i).String(), one.Name, one.Value})
	}
	for _, one := range in.Intent.Container.PatchEnv {
		all = append(all, variable{overrides.Child("podTemplate").String(), one.Name, one.Value})
	}
	for _, one := range in.Intent.SecretEnv {
		all = append(all, variable{field.NewPath("spec", "secretEnv").Key(one.Name).String(), one.Name, ""})
	}
	return all
}

// variableWarnings warns about the user's variables that nothing reads in this release, and about values that the
// configuration reads as endpoints and that are probably mistakes.
func (p *Plan) variableWarnings(in Input) {
	all := userVariables(in)
	if len(all) == 0 {
		return
	}
	root := p.root()
	var reads []string
	isRead, isSet := map[string]bool{}, map[string]bool{}
	eachReference(root, func(name string) {
		if !isRead[name] {
			isRead[name] = true
			reads = append(reads, name)
		}
	})
	for _, one := range all {
		isSet[one.name] = true
	}
	for _, one := range all {
		if isRead[one.name] {
			continue
		}
		if told := otherRelease(in, one.name); told != "" {
			p.warn(one.path, "%s", told)
			continue
		}
		for _, name := range reads[:min(len(reads), maxCompared)] {
			if !isSet[name] && suggest.IsSlip(one.name, name) {
				p.warn(one.path, "nothing in the server's configuration reads the variable %q; did you mean %q?", one.name, name)
				break
			}
		}
	}
	p.endpointVariables(in, root, all)
}

// maxCompared is the maximum number of variables that are compared with each of the user's variables. A usual
// configuration reads less than a tenth of it. The user's own configuration can read 40,000.
const maxCompared = 1000

// eachReference calls a function for each variable that a configuration reads.
func eachReference(node *yaml.Node, do func(name string)) {
	if node == nil {
		return
	}
	for found := range envref.Server.All(node.Value) {
		do(found.Name)
	}
	for _, item := range node.Content {
		eachReference(item, do)
	}
}

// otherRelease returns a message about a variable that only other releases read (server fact 40, server fact 41, server
// fact 63), or an empty string.
func otherRelease(in Input, name string) string {
	if in.Distribution.DetectedBy == distribution.Unknown {
		return ""
	}
	rel := in.Distribution.Release
	var right string
	switch name {
	case "LLAMA_STACK_LOGGING", "OGX_LOGGING":
		right = rel.Runtime.LoggingVariable
	case "LLAMA_STACK_CONFIG_DIR", "OGX_CONFIG_DIR":
		right = rel.Runtime.DataDirVariable
	default:
		if !strings.HasPrefix(name, "OGX_") || rel.Runtime.PortVariable != oldPortVariable {
			return ""
		}
		return fmt.Sprintf("server release %s does not read the variable %q, because only releases from 0.8 on read "+
			"variables that begin with OGX_; remove it", rel.Line, name)
	}
	if name == right {
		return ""
	}
	return fmt.Sprintf("server release %s does not read the variable %q; set %q instead", rel.Line, name, right)
}

// endpointVariables checks the values that a provider's configuration reads as an endpoint, as package validate checks
// the endpoints in the spec. For an unknown configuration, it assumes that of the default distribution.
func (p *Plan) endpointVariables(in Input, root *yaml.Node, all []variable) {
	if root == nil && p.Mode == ModeImageDefault {
		if known, ok := in.Distribution.Release.Distribution(defaultDistribution); ok {
			root = rootOf([]byte(known.YAML))
		}
	}
	providers := yamlnode.Get(root, "providers")
	for _, api := range yamlnode.Keys(providers) {
		for _, item := range yamlnode.Items(yamlnode.Get(providers, api)) {
			if kind, known := in.Distribution.Release.ResolveType(api, yamlnode.Text(item, "provider_type")); known {
				p.endpointsOf(in, kind, yamlnode.Get(item, "config"), all)
			}
		}
	}
}

// endpointsOf checks the variables that one provider reads as endpoints.
func (p *Plan) endpointsOf(in Input, kind *provider.Type, config *yaml.Node, all []variable) {
	for _, key := range yamlnode.Keys(config) {
		reference, whole := envref.Server.Whole(yamlnode.Text(config, key))
		// A variable that is set twice has its last value.
		at := lastIndex(all, reference.Name)
		if !whole || at < 0 || !isEndpoint(kind, key, all[at].value) {
			continue
		}
		value := all[at].value
		port := strconv.Itoa(int(render.Port(&in.Object.Spec)))
		mistakes := provider.EndpointMistakes(value, kind.API == "inference", p.alone(), port)
		full := kind.Endpoint(value)
		if len(mistakes) == 0 && key == kind.EndpointKey && full != value && !strings.ContainsAny(value, "@$") {
			mistakes = []string{fmt.Sprintf("%q has no path, and %s requires %s; write %q", value, kind.Type, kind.EndpointPath, full)}
		}
		for _, mistake := range mistakes {
			p.warnOnce(all[at].path, fmt.Sprintf("%s: %s", reference.Name, mistake))
		}
	}
}

func lastIndex(all []variable, name string) int {
	for i := range slices.Backward(all) {
		if all[i].name == name {
			return i
		}
	}
	return -1
}

// isEndpoint reports whether a key of a provider contains an endpoint.
func isEndpoint(kind *provider.Type, key, value string) bool {
	return key == kind.EndpointKey || key == "host" || strings.HasSuffix(key, "_host") || strings.Contains(value, "://")
}

// warnOnce adds a warning unless the plan has it. Several providers can read the same variable.
func (p *Plan) warnOnce(path, message string) {
	for i := range p.Warnings {
		if p.Warnings[i].Path == path && p.Warnings[i].Message == message {
			return
		}
	}
	p.warn(path, "%s", message)
}

// alone reports whether the server is the only program in the rendered pod.
func (p *Plan) alone() bool {
	pod := p.Rendered.Deployment.Spec.Template.Spec
	if pod.HostNetwork != nil && *pod.HostNetwork || len(pod.Containers) > 1 {
		return false
	}
	for i := range pod.InitContainers {
		if pod.InitContainers[i].RestartPolicy != nil {
			return false
		}
	}
	return true
}
