package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Get returns the value of a key.
func (f Fields) Get(key string) (any, bool) {
	for _, field := range f {
		if field.Key == key {
			return field.Value, true
		}
	}
	return nil, false
}

// UnmarshalJSON reads a mapping, or null. The values are null, bool, string, json.Number, []any or Fields.
func (f *Fields) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	value, err := decodeValue(dec)
	fields, ok := value.(Fields)
	if err == nil && value != nil && !ok {
		return fmt.Errorf("read a mapping: found %T", value)
	}
	*f = fields
	return err
}

// MarshalJSON writes the fields in order.
func (f Fields) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, field := range f {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(field.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, key, []byte{':'}, value)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads a default and keeps the order of the fields in its value.
func (d *Default) UnmarshalJSON(data []byte) error {
	var row Fields
	if err := row.UnmarshalJSON(data); err != nil {
		return err
	}
	key, _ := row.Get("key")
	d.Key, _ = key.(string)
	d.Value, _ = row.Get("value")
	return nil
}

func decodeValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return decodeFields(dec)
	case json.Delim('['):
		return decodeList(dec)
	default:
		return token, nil
	}
}

func decodeFields(dec *json.Decoder) (any, error) {
	fields := Fields{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		fields = append(fields, Field{Key: key.(string), Value: value}) //nolint:forcetypeassert // a JSON key is a string
	}
	_, err := dec.Token()
	return fields, err
}

func decodeList(dec *json.Decoder) (any, error) {
	list := []any{}
	for dec.More() {
		value, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := dec.Token()
	return list, err
}

// Node returns a value as a YAML node. Fields keep their order. Node quotes strings that the server's reader, which
// follows YAML 1.1, would read as another type. Text with several lines becomes a block.
func Node(value any) *yaml.Node {
	switch v := value.(type) {
	case Fields:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, f := range v {
			node.Content = append(node.Content, stringNode(f.Key), Node(f.Value))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			node.Content = append(node.Content, Node(item))
		}
		return node
	case string:
		return stringNode(v)
	default:
		return yamlnode.FromJSON(value)
	}
}

// stringNode returns a string as a YAML node that YAML 1.1 and 1.2 readers both read as that string.
func stringNode(value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	switch {
	case strings.Contains(value, "\n"):
		node.Style = yaml.LiteralStyle
	case !schema.IsPlainString(value):
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}
