package stackconfig

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// storingAPIs are the APIs whose remote providers store the server's data outside the server (server fact 71). Two
// servers with the same configuration share that data.
var storingAPIs = []string{"vector_io", "files"}

// OnlyFiles reports whether a server with this configuration is not known to keep data outside its own files. It
// returns true for a configuration that cannot be read. Providers that only a variable from envFrom can enable do not
// count. If the spec sets the variable with the type of a store, the store counts as a separate server.
func OnlyFiles(config []byte, rel *release.Release, in *intent.Intent) bool {
	base, err := baseconfig.ParseUncached(config)
	if err != nil {
		return true
	}
	f := files{served: map[string]bool{}, in: in}
	for i := range rel.Storage.Backends {
		kind := &rel.Storage.Backends[i]
		if _, isFile := kind.Class.Key("db_path"); !isFile {
			for _, name := range []string{kind.Type, kind.TypeValue, strings.TrimPrefix(kind.Type, kind.Family+"_")} {
				f.served[name] = true
			}
		}
	}
	return !f.shares(base.Root())
}

// files finds stores that are not files of the server.
type files struct {
	// served is the set of backend types that are separate servers.
	served map[string]bool
	in     *intent.Intent
}

func (f *files) shares(root *yaml.Node) bool {
	for _, section := range yamlnode.Keys(root) {
		value := yamlnode.Get(root, section)
		if section == "providers" {
			if f.sharesProvider(value) {
				return true
			}
		} else if f.sharesStore(value) {
			return true
		}
	}
	return false
}

func (f *files) sharesProvider(providers *yaml.Node) bool {
	for _, api := range yamlnode.Keys(providers) {
		for _, item := range yamlnode.Items(yamlnode.Get(providers, api)) {
			if !f.enabled(item) {
				continue
			}
			remote := strings.HasPrefix(yamlnode.Text(item, "provider_type"), "remote::")
			if remote && slices.Contains(storingAPIs, api) || f.sharesStore(item) {
				return true
			}
		}
	}
	return false
}

// enabled reports whether a provider is known to exist: it has no condition, or the spec meets its condition.
func (f *files) enabled(item *yaml.Node) bool {
	id, condition := envref.Static(yamlnode.Text(item, "provider_id"))
	if id == "" || id == draft.DisabledID {
		return false
	}
	return condition == "" || f.isSet(condition)
}

func (f *files) isSet(variable string) bool {
	return slices.Contains(f.in.Variables, variable) ||
		slices.ContainsFunc(f.in.SecretEnv, func(v intent.Variable) bool { return v.Name == variable })
}

// sharesStore reports whether a node, or a node below it, is a store that is not a file.
func (f *files) sharesStore(node *yaml.Node) bool {
	if node == nil {
		return false
	}
	if node.Kind == yaml.MappingNode {
		text := yamlnode.Text(node, "type")
		kind, _ := envref.Static(text)
		variable, _ := envref.Server.First(text)
		if f.served[kind] || f.isSet(variable.Name) {
			return true
		}
	}
	return slices.ContainsFunc(node.Content, f.sharesStore)
}
