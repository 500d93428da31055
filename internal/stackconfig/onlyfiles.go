package stackconfig

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// storingAPIs are the APIs whose remote providers store the server's data outside the server (server fact 71). Two
// servers with the same configuration share that data.
var storingAPIs = []string{"vector_io", "files"}

// OnlyFiles reports whether a server with this configuration keeps its data only in its own files. It returns false
// when this cannot be determined: the text is not a configuration, or the type of a store comes from a variable.
// Providers that no variable enables do not count.
func OnlyFiles(config []byte, rel *release.Release, in *intent.Intent) bool {
	base, err := baseconfig.ParseUncached(config)
	if err != nil {
		return false
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

// enabled reports whether a provider can exist: it has no condition, or its condition is met or cannot be determined.
func (f *files) enabled(item *yaml.Node) bool {
	id, condition := envref.Static(yamlnode.Text(item, "provider_id"))
	if id == "" || id == draft.DisabledID {
		return false
	}
	return condition == "" || f.in.MoreVariables || slices.Contains(f.in.Variables, condition) ||
		slices.ContainsFunc(f.in.SecretEnv, func(v intent.Variable) bool { return v.Name == condition })
}

// sharesStore reports whether a node, or a node below it, is a store that is not a file, or a store whose type comes
// from a variable.
func (f *files) sharesStore(node *yaml.Node) bool {
	if node == nil {
		return false
	}
	if node.Kind == yaml.MappingNode {
		if kind := yamlnode.Text(node, "type"); f.served[kind] || envref.IsMeant(kind) {
			return true
		}
	}
	return slices.ContainsFunc(node.Content, f.sharesStore)
}
