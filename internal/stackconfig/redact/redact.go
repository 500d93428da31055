package redact

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// ProviderKey tells the providers of a configuration apart.
type ProviderKey struct{ API, ID, Type string }

const (
	// maxSize bounds the settings of all providers together, in bytes: they are kept
	// in an object's status.
	maxSize = 64 << 10
	// hidden stands for a credential, as the server itself writes it.
	hidden = "********"
)

// Settings are the settings of the providers of a configuration, as JSON, for
// everybody to read. They are those of the file: a variable is shown as it is
// written, so that no value of the server's environment, and of no Secret, can be
// among them. What looks like a credential in clear text is replaced. Nil when the
// configuration cannot be read; what would be too much is left out.
func Settings(config []byte) map[ProviderKey][]byte {
	base, err := baseconfig.ParseUncached(config)
	if err != nil {
		return nil
	}
	all, size := map[ProviderKey][]byte{}, 0
	providers := yamlnode.Get(base.Root(), "providers")
	for _, api := range yamlnode.Keys(providers) {
		for _, item := range yamlnode.Items(yamlnode.Get(providers, api)) {
			id, _ := envref.Static(yamlnode.Text(item, "provider_id"))
			settings := yamlnode.Get(item, "config")
			if yamlnode.Len(settings) == 0 {
				continue
			}
			data, err := encode(redacted(settings))
			if size += len(data); err != nil || size > maxSize {
				return all
			}
			all[ProviderKey{API: api, ID: id, Type: yamlnode.Text(item, "provider_type")}] = data
		}
	}
	return all
}

// encode leaves <, > and & as they are: the text is for people.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// redacted is a value with its credentials hidden.
func redacted(node *yaml.Node) any {
	switch node.Kind {
	case yaml.MappingNode:
		fields := map[string]any{}
		for _, key := range yamlnode.Keys(node) {
			value := yamlnode.Get(node, key)
			if mayHide(key, value) {
				fields[key] = hide(value)
			} else {
				fields[key] = redacted(value)
			}
		}
		return fields
	case yaml.SequenceNode:
		items := []any{}
		for _, item := range node.Content {
			items = append(items, redacted(item))
		}
		return items
	default:
		return scalar(node)
	}
}

func scalar(node *yaml.Node) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if node.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var n int64
		if node.Decode(&n) == nil {
			return n
		}
	case "!!float":
		var f float64
		if node.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
	return text(node.Value)
}

// hide leaves nothing of a value but the names of variables, and that it is empty
// or a switch.
func hide(node *yaml.Node) any {
	switch {
	case node.Kind != yaml.ScalarNode:
		return hidden
	case node.Value == "", node.ShortTag() == "!!null", node.ShortTag() == "!!bool":
		return scalar(node)
	case envref.Prefixed.Replace(node.Value, func(envref.Reference) string { return "" }, nil) != "":
		return hidden
	default:
		return envref.Prefixed.Replace(node.Value, hideDefault, nil)
	}
}

func hideDefault(reference envref.Reference) string {
	if reference.Text != "" {
		reference.Text = hidden
	}
	return reference.String()
}

// literalOf is a text with the defaults of its variables in their place.
func literalOf(text string) string {
	return envref.Prefixed.Replace(text, func(reference envref.Reference) string { return reference.Text }, nil)
}

// text hides a text that looks like a credential, wherever it stands. What is
// in variables is not part of it, their defaults are.
func text(value string) string {
	literal := literalOf(value)
	looks := func(form *regexp.Regexp) bool { return form.MatchString(literal) }
	if slices.ContainsFunc(credentialForms, looks) || slices.ContainsFunc(longWord.FindAllString(literal, -1), isRandom) {
		return hidden
	}
	return value
}
