package stackconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// registryBackend holds the registry when it needs a file of its own.
const registryBackend = "kv_registry"

// separateRegistry gives the server's registry a place that depends on what the
// configuration registers. The registry outlives a restart, and the server stops
// when an entry of the configuration differs from the one it kept (SERVER.md
// fact 6); with a place of its own a changed model can never do that. A store
// that keeps namespaces apart gets another namespace, a sqlite file that does not
// is another file beside the old one.
func (s *storageWriter) separateRegistry() {
	metadata := yamlnode.Get(s.stores, "metadata")
	backend := yamlnode.Get(s.backends, yamlnode.Text(metadata, "backend"))
	if metadata == nil || backend == nil {
		return
	}
	kind := yamlnode.Text(backend, "type")
	origin := Origin{Note: "derived from registered_resources"}
	sum := digest(yamlnode.Get(s.root, release.RegisteredResources))
	if kind != "kv_sqlite" || s.rel.Runtime.RegistryKeepsNamespace {
		namespace := yamlnode.Text(metadata, "namespace")
		s.write(under(metadata, "namespace"), yamlnode.String(namespace+"-"+sum), origin)
		return
	}
	own := yamlnode.Map()
	s.write(under(own, "type"), yamlnode.String(kind), origin)
	s.write(under(own, "db_path"), yamlnode.String(s.besides(yamlnode.Text(backend, "db_path"), "registry-"+sum+".db")), origin)
	s.write(under(s.backends, registryBackend), own, origin)
	s.write(under(metadata, "backend"), yamlnode.String(registryBackend), origin)
}

// besides is a file in the directory of another one. Where a reference hides the
// directory, it is where the server's own configurations have it.
func (d *draft) besides(path, name string) string {
	slash := strings.LastIndexByte(path, '/')
	if brace := strings.LastIndexByte(path, '}'); slash < 0 || slash < brace {
		return d.dataFile(name)
	}
	return path[:slash+1] + name
}

// digest is the beginning of a hash over the values of a tree, however they are
// spelt.
func digest(node *yaml.Node) string {
	h := sha256.New()
	feed(h, node)
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func feed(h hash.Hash, node *yaml.Node) {
	if node == nil {
		return
	}
	_, _ = h.Write([]byte{byte(node.Kind)}) //nolint:gosec // the kinds are the bits 1 to 16
	_, _ = h.Write([]byte(node.ShortTag()))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(node.Value))
	_, _ = h.Write([]byte{0})
	for _, item := range node.Content {
		feed(h, item)
	}
	_, _ = h.Write([]byte{0xff})
}
