package corpus

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// strange lists values that few keys accept.
var strange = []any{
	"no such thing", 12345, 1.5, true, []any{}, []any{[]any{}}, fields{}, fields{"a": fields{}}, -1, 0, 1_000_000_000_000, "",
}

// Sweep returns one mistake for each pair of a key and an unusual value that the release data does not allow for the
// key. The keys are those of the provider types and of the other sections. A test uses Sweep to find values that the
// operator rejects although the server accepts them.
func Sweep(rel *release.Release) []Negative {
	n := newNegatives(rel)
	for _, kind := range n.types() {
		if kind.Broken != "" {
			continue
		}
		for i := range kind.Config.Keys {
			n.sweepKey(kind, &kind.Config.Keys[i])
		}
	}
	for i := range rel.TopLevel.Keys {
		n.sweepSection(&rel.TopLevel.Keys[i])
	}
	return n.all
}

// written lists the keys that the engine always writes, and the keys for which the server corrects or ignores invalid
// values: a name that consists of digits, a version, and an empty section for storage.
var written = []string{
	"distro_name", "image_name", "version", "storage", "server.port", "server.host",
	"server.insecure",
}

func (n *negatives) sweepKey(kind *provider.Type, key *schema.Key) {
	for i, value := range strange {
		if !key.Internal && refuses(key, value) {
			n.refused(fmt.Sprintf("sweep/%s/%s/%s/%d", kind.API, kind.Type, key.Name, i), "",
				n.withSettings(kind, fields{key.Name: value}))
		}
	}
}

// Strange returns stacks with an unusual value that the release data allows for its key, so the server must accept it
// too. A test uses Strange to find mistakes that the checks do not detect. Strange omits the keys whose names end in
// "verify", because their values can be paths. A path must exist in the pod, and the operator cannot check this.
func Strange(rel *release.Release) []Case {
	if rel.Storage.Inline {
		return nil // a spec cannot request a line that is not offered
	}
	n := newNegatives(rel)
	var cases []Case
	for _, kind := range n.types() {
		for i := range kind.Config.Keys {
			key := &kind.Config.Keys[i]
			if kind.Broken != "" || key.Internal || strings.HasSuffix(key.Name, "verify") {
				continue
			}
			for v, value := range strange {
				if !refuses(key, value) {
					c := *n.withSettings(kind, fields{key.Name: value}).wrong
					c.Name = fmt.Sprintf("strange/%s/%s/%s/%d", kind.API, kind.Type, key.Name, v)
					cases = append(cases, c)
				}
			}
		}
	}
	return cases
}

// sweepSection adds mistakes for a key at the top level and for the keys of its class.
func (n *negatives) sweepSection(key *schema.Key) {
	for i, value := range strange {
		if !slices.Contains(written, key.Name) && refuses(key, value) {
			n.refused(fmt.Sprintf("sweep/%s/%d", key.Name, i), "", n.inBase(func(config fields) { config[key.Name] = value }))
		}
	}
	class := classOf(key.Type)
	isBackend := slices.ContainsFunc(n.rel.Storage.Stores, func(s release.Store) bool { return s.Path == key.Name })
	if class == nil || isBackend { // a backend has only the keys of its type
		return
	}
	for k := range class.Keys {
		inner := &class.Keys[k]
		for i, value := range strange {
			if !slices.Contains(written, key.Name+"."+inner.Name) && refuses(inner, value) {
				n.refused(fmt.Sprintf("sweep/%s.%s/%d", key.Name, inner.Name, i), "",
					n.inBase(func(config fields) { at(config, key.Name)[inner.Name] = value }))
			}
		}
	}
}

// refuses reports whether the release data does not allow a value for a key.
func refuses(key *schema.Key, value any) bool {
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		panic("corpus: " + err.Error()) // the values are constants that can be encoded
	}
	problems := key.Check(&node)
	for i := range problems {
		if problems[i].Fatal {
			return true
		}
	}
	return false
}
