package environment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// variable is a variable that the user sets. Value is empty if the value comes from another object.
type variable struct {
	path, name, value string
}

// Variables are the variables that the user sets.
type Variables []variable

// OfUser returns the variables in the spec of a stack.
func OfUser(stack *v1alpha2.LlamaStackDistribution, decoded *intent.Intent) Variables {
	var all Variables
	overrides := field.NewPath("spec", "workload", "overrides")
	for i, one := range intent.Overrides(&stack.Spec).Env {
		all = append(all, variable{overrides.Child("env").Index(i).String(), one.Name, one.Value})
	}
	for _, one := range decoded.Container.PatchEnv {
		all = append(all, variable{overrides.Child("podTemplate").String(), one.Name, one.Value})
	}
	for _, one := range decoded.SecretEnv {
		all = append(all, variable{field.NewPath("spec", "secretEnv").Key(one.Name).String(), one.Name, ""})
	}
	return all
}

// Server is what is known of the server that reads the variables.
type Server struct {
	Distribution *distribution.Resolved
	// Config is the configuration of the server, or nil if it is unknown. Assumed is the same, or a configuration that an
	// unknown one probably resembles.
	Config, Assumed *yaml.Node
	Port            int32
	// Alone reports whether the server is the only program in its pod.
	Alone bool
}

// Warnings warns about variables that nothing reads in the server's release, and about values that the configuration
// reads as endpoints and that are probably mistakes.
func (all Variables) Warnings(s Server) []stackconfig.Finding {
	var reads []string
	isRead, set := map[string]bool{}, map[string]variable{}
	eachReference(s.Config, func(name string) {
		if !isRead[name] {
			isRead[name] = true
			reads = append(reads, name)
		}
	})
	for _, one := range all {
		set[one.name] = one // a variable that is set twice has its last value
	}
	var found []stackconfig.Finding
	for _, one := range all {
		if isRead[one.name] {
			continue
		}
		if told := otherRelease(s.Distribution, one.name); told != "" {
			found = append(found, stackconfig.Finding{Path: one.path, Message: told})
			continue
		}
		for _, name := range reads[:min(len(reads), maxCompared)] {
			if _, isSet := set[name]; !isSet && suggest.IsSlip(one.name, name) {
				found = append(found, stackconfig.Finding{Path: one.path, Message: fmt.Sprintf(
					"nothing in the server's configuration reads the variable %q; did you mean %q?", one.name, name)})
				break
			}
		}
	}
	return append(found, s.endpoints(set)...)
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
func otherRelease(of *distribution.Resolved, name string) string {
	if of.DetectedBy == distribution.Unknown {
		return ""
	}
	rel := of.Release
	var right string
	switch name {
	case "LLAMA_STACK_LOGGING", "OGX_LOGGING":
		right = rel.Runtime.LoggingVariable
	case "LLAMA_STACK_CONFIG_DIR", "OGX_CONFIG_DIR":
		right = rel.Runtime.DataDirVariable
	default:
		if !strings.HasPrefix(name, "OGX_") || strings.HasPrefix(rel.Runtime.PortVariable, "OGX_") {
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

// endpoints checks the values that a provider's configuration reads as an endpoint, as package validate checks the
// endpoints in the spec.
func (s *Server) endpoints(set map[string]variable) []stackconfig.Finding {
	var found []stackconfig.Finding
	providers := yamlnode.Get(s.Assumed, "providers")
	for _, api := range yamlnode.Keys(providers) {
		for _, item := range yamlnode.Items(yamlnode.Get(providers, api)) {
			kind, known := s.Distribution.Release.ResolveType(api, yamlnode.Text(item, "provider_type"))
			if !known {
				continue
			}
			for _, one := range s.mistakes(kind, yamlnode.Get(item, "config"), set) {
				if !slices.Contains(found, one) { // several providers can read the same variable
					found = append(found, one)
				}
			}
		}
	}
	return found
}

// mistakes checks the variables that one provider reads as endpoints.
func (s *Server) mistakes(kind *provider.Type, config *yaml.Node, set map[string]variable) []stackconfig.Finding {
	var found []stackconfig.Finding
	for _, key := range yamlnode.Keys(config) {
		reference, whole := envref.Server.Whole(yamlnode.Text(config, key))
		one, isSet := set[reference.Name]
		if !whole || !isSet || !isEndpoint(kind, key, one.value) {
			continue
		}
		mistakes := provider.EndpointMistakes(one.value, kind.API == "inference", s.Alone, strconv.Itoa(int(s.Port)))
		full := kind.Endpoint(one.value)
		if len(mistakes) == 0 && key == kind.EndpointKey && full != one.value && !strings.ContainsAny(one.value, "@$") {
			mistakes = []string{fmt.Sprintf("%q has no path, and %s requires %s; write %q", one.value, kind.Type, kind.EndpointPath, full)}
		}
		for _, mistake := range mistakes {
			found = append(found, stackconfig.Finding{Path: one.path, Message: reference.Name + ": " + mistake})
		}
	}
	return found
}

// isEndpoint reports whether a key of a provider contains an endpoint.
func isEndpoint(kind *provider.Type, key, value string) bool {
	return key == kind.EndpointKey || key == "host" || strings.HasSuffix(key, "_host") || strings.Contains(value, "://")
}
