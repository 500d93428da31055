package manifest

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// text contains the comments and the order of the keys in a manifest. A place, which is a key of pairs and an item of
// order, is the path of a value in the apiVersion of the result.
type text struct {
	// head and foot are the comments of the whole document.
	head, foot string
	pairs      map[string]*pair
	// order contains the places in the order of the text.
	order []string
}

// pair is a key and its value. The key is nil for an item of a list.
type pair struct {
	key, value *yaml.Node
	// keyUsed and valueUsed report whether the comments on the key and the value were written.
	keyUsed, valueUsed bool
}

// moved contains, for each v1alpha1 object that groups fields, the v1alpha2 object that contains most of these fields.
var moved = map[string]string{
	"spec.network":                     "spec.networking",
	"spec.server":                      "spec",
	"spec.server.containerSpec":        "spec.workload.overrides",
	"spec.server.containerSpec.name":   "metadata.annotations",
	"spec.server.podOverrides":         "spec.workload.overrides",
	"spec.server.storage":              "spec.workload.storage",
	"spec.server.tlsConfig":            "spec.networking.tls",
	"spec.server.autoscaling":          "spec.workload.autoscaling",
	"spec.server.userConfig":           "spec.overrideConfig",
	"spec.server.tlsConfig.caBundle":   "spec.networking.tls.caBundle",
	"spec.server.containerSpec.limits": "spec.workload.resources",
}

// readText reads the comments in the YAML of a document. The parameter `to` is the apiVersion to which the document is
// converted. Invalid YAML results in no comments.
func readText(source []byte, to string) text {
	root, t := parse(source)
	same := yamlnode.Text(root, "apiVersion") == to
	t.read(root, nil, func(at []string) []string {
		if same {
			return at
		}
		if place, ok := moved[strings.Join(at, ".")]; ok {
			return strings.Split(place, ".")
		}
		return convert.Counterpart(at, to)
	})
	return t
}

// readForeign reads the comments in the YAML of an object of another kind.
func readForeign(source []byte, placed func([]string) []string) text {
	root, t := parse(source)
	t.read(root, nil, placed)
	return t
}

// parse parses a document, and reads the comments above and below it. The root has no content if the source is empty
// or invalid.
func parse(source []byte) (*yaml.Node, text) {
	t := text{pairs: make(map[string]*pair)}
	var document yaml.Node
	if len(source) == 0 || yaml.Unmarshal(source, &document) != nil || len(document.Content) == 0 {
		return &yaml.Node{}, t
	}
	root := document.Content[0]
	t.head, t.foot = document.HeadComment, document.FootComment
	t.head = joined(t.head, root.HeadComment)
	return root, t
}

// read records the nodes below a place in the text.
func (t *text) read(node *yaml.Node, at []string, placed func([]string) []string) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			t.note(&pair{key: node.Content[i], value: node.Content[i+1]}, append(slices.Clone(at), node.Content[i].Value),
				placed)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			t.note(&pair{value: item}, append(slices.Clone(at), strconv.Itoa(i)), placed)
		}
	default:
	}
}

// note records a node at its place in the result, and then the nodes below the node.
func (t *text) note(p *pair, at []string, placed func([]string) []string) {
	place := joinPlace(placed(at))
	if _, taken := t.pairs[place]; taken {
		place += separator + "also " + joinPlace(at)
	}
	t.pairs[place] = p
	t.order = append(t.order, place)
	t.read(p.value, at, placed)
}

const separator = "\x00"

func joinPlace(steps []string) string { return strings.Join(steps, separator) }

// keys returns the keys of a mapping in the order of the text.
func (t *text) keys(at []string) []string {
	if p, ok := t.pairs[joinPlace(at)]; ok {
		return yamlnode.Keys(p.value)
	}
	return nil
}

// commentKey copies the comments on a key of the source.
func (t *text) commentKey(key *yaml.Node, at []string) {
	if p, ok := t.pairs[joinPlace(at)]; ok && p.key != nil {
		copyComments(key, p.key)
		p.keyUsed = true
	}
}

// commentValue copies the comments on a value of the source.
func (t *text) commentValue(value *yaml.Node, at []string) {
	p, ok := t.pairs[joinPlace(at)]
	if !ok || len(at) == 0 {
		return
	}
	copyComments(value, p.value)
	p.valueUsed = true
}

// ownAnnotations is the prefix of the places of the operator's own annotations.
var ownAnnotations = joinPlace([]string{"metadata", "annotations", "llamastack.io/"})

// unplaced returns the comments that were not written, in the order of the text.
func (t *text) unplaced() string {
	var found string
	for _, place := range t.order {
		p := t.pairs[place]
		if strings.HasPrefix(place, ownAnnotations) { // This package adds its own comments to these annotations.
			continue
		}
		if p.key != nil && !p.keyUsed {
			found = joined(found, commentsOf(p.key))
		}
		if !p.valueUsed {
			found = joined(found, commentsOf(p.value))
		}
	}
	return found
}

func copyComments(to, from *yaml.Node) {
	to.HeadComment, to.LineComment, to.FootComment = from.HeadComment, from.LineComment, from.FootComment
}

func commentsOf(node *yaml.Node) string {
	return joined(joined(node.HeadComment, node.LineComment), node.FootComment)
}

// joined returns two comments, one below the other.
func joined(above, below string) string {
	switch {
	case above == "":
		return below
	case below == "":
		return above
	default:
		return above + "\n" + below
	}
}
