package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// overlay is a hand-written file: <line>.overlay.yaml for one line, or a file for one of the names in the variable
// `several`. The corrections in a file for several lines name the lines to which they apply.
type overlay struct {
	// Corrections are applied in order.
	Corrections []correction `yaml:"corrections"`
}

// correction changes one part of the extracted data, or adds facts that the server's package does not contain.
type correction struct {
	// Of is the name of the part: `release`, `runtime`, `storage`, `tools` or `offline`, or a kind and a name, for example
	// `provider inference/remote::vllm`, `backend kv_redis`, `store metadata`, `resource models`, `class GeminiConfig` or
	// `key VLLMInferenceAdapterConfig.base_url`.
	Of string `yaml:"of"`
	// Since and Until are the first and the last release line to which the correction applies. Empty means no limit.
	Since string `yaml:"since"`
	Until string `yaml:"until"`
	// Set holds the fields to set, as in the data file. Other fields are unchanged.
	Set ordered `yaml:"set"`
	// Reason explains why the extracted data is not enough, and names the source of the fact.
	Reason string `yaml:"reason"`
	// Test is the name of the test that proves the fact.
	Test string `yaml:"test"`
}

// ordered is a YAML value, converted to JSON. Its mappings keep the order of the YAML.
type ordered json.RawMessage

// UnmarshalYAML implements the interface of the YAML decoder.
func (o *ordered) UnmarshalYAML(node *yaml.Node) error {
	text, err := appendJSON(nil, node)
	*o = text
	return err
}

// appendJSON appends a YAML node as JSON. It converts keys to text.
func appendJSON(out []byte, node *yaml.Node) ([]byte, error) {
	switch node.Kind {
	case yaml.AliasNode:
		return nil, fmt.Errorf("line %d: the field \"set\" must not contain an alias", node.Line) // an alias might contain itself
	case yaml.MappingNode, yaml.SequenceNode:
		return appendItems(out, node)
	default:
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		return appendValue(out, value)
	}
}

func appendItems(out []byte, node *yaml.Node) (_ []byte, err error) {
	left, right, step := byte('['), byte(']'), 1
	if node.Kind == yaml.MappingNode {
		left, right, step = '{', '}', 2
	}
	out = append(out, left)
	for i := 0; i < len(node.Content); i += step {
		if i > 0 {
			out = append(out, ',')
		}
		if step == 2 {
			if out, err = appendValue(out, node.Content[i].Value); err != nil {
				return nil, err
			}
			out = append(out, ':')
		}
		if out, err = appendJSON(out, node.Content[i+step-1]); err != nil {
			return nil, err
		}
	}
	return append(out, right), nil
}

func appendValue(out []byte, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	return append(out, text...), err
}

// several lists the overlays whose corrections name the lines to which they apply. The overlay `shared` contains facts
// for configurations. The others are separate because they do not affect any configuration: `registry` contains facts
// for the script that runs before the server starts, `checks` contains facts that only checks need, and `offline`
// contains facts about servers without internet access.
var several = []string{"shared", "registry", "checks", "offline"}

// readOverlay reads the overlay with the given name.
func readOverlay(data fs.FS, name string) (*overlay, error) {
	text, err := fs.ReadFile(data, name+".overlay.yaml")
	if err != nil {
		return nil, fmt.Errorf("read overlay: %w", err)
	}
	return decodeOverlay(text)
}

// decodeOverlay reads an overlay strictly, and rejects a correction without a name, fields, a reason or a test.
func decodeOverlay(data []byte) (*overlay, error) {
	var o overlay
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&o); err != nil {
		return nil, fmt.Errorf("decode overlay: %w", err)
	}
	for i, c := range o.Corrections {
		if c.Of == "" || len(c.Set) == 0 || c.Reason == "" || c.Test == "" {
			return nil, fmt.Errorf("decode overlay: correction %d (of %q) must have the fields \"of\", \"set\", \"reason\" and \"test\"", i, c.Of)
		}
	}
	return &o, nil
}

func decodeStrict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// covers reports whether a release line is in the range from `since` to `until`, inclusive. An empty `since` or `until`
// sets no limit.
func covers(since, until, line string) bool {
	return (since == "" || release.Compare(since, line) <= 0) && (until == "" || release.Compare(line, until) <= 0)
}

// apply applies the corrections of the overlay to the document.
func (o *overlay) apply(doc *document) error {
	for _, c := range o.Corrections {
		if !covers(c.Since, c.Until, doc.Line) {
			continue
		}
		target, err := doc.part(c.Of)
		if err == nil {
			err = decodeStrict(c.Set, target)
		}
		if err != nil {
			return fmt.Errorf("correct %q: %w", c.Of, err)
		}
	}
	return nil
}

var errNoPart = errors.New("no such part")

// part returns a pointer to the part of the document that a correction names.
func (d *document) part(of string) (any, error) {
	unnamed := map[string]any{
		"release": d, "runtime": &d.Runtime, "storage": &d.StorageRows, "offline": &d.OfflineRows, "tools": &d.ToolRows,
	}
	kind, name, _ := strings.Cut(of, " ")
	if part, ok := unnamed[kind]; ok {
		return part, nil
	}
	switch kind {
	case "provider":
		return entry(d.ProviderRows, name)
	case "backend":
		return entry(d.StorageRows.Backends, name)
	case "store":
		return find(d.StorageRows.Stores, func(row *release.Store) bool { return row.Name == name })
	case "resource":
		return find(d.Resources, func(row *release.Resource) bool { return row.Kind == name })
	case "class":
		return entry(d.Classes, name)
	case "key":
		return d.key(name)
	default:
		return nil, errNoPart
	}
}

// key returns the row for a key, given by a name in the form `Class.key`. The class name can contain dots.
func (d *document) key(name string) (any, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, errNoPart
	}
	class, ok := d.Classes[name[:dot]]
	if !ok {
		return nil, errNoPart
	}
	return find(class.Keys, func(row *schema.Key) bool { return row.Name == name[dot+1:] })
}

func entry[T any](rows map[string]*T, name string) (any, error) {
	if row, ok := rows[name]; ok {
		return row, nil
	}
	return nil, errNoPart
}

func find[T any](rows []T, match func(*T) bool) (any, error) {
	for i := range rows {
		if match(&rows[i]) {
			return &rows[i], nil
		}
	}
	return nil, errNoPart
}
