package plan

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Setting is one value of the configuration that the server reads.
type Setting struct {
	// Path is the path of the value. Ids identify the entries of a list: providers.inference[vllm].config.url.
	Path string
	// Value is the value at this path. An empty collection is {} or [].
	Value string
	// Origin is the origin of the value: a field of the spec, or OriginBase.
	Origin string
}

// OriginBase is the origin of a value that no field of the spec requests.
const OriginBase = "base"

// Settings lists the values of the configuration that the server reads, in the order of the configuration. Nil means
// that the configuration is unknown, because it is only in the image.
func (p *Plan) Settings() []Setting {
	var found []Setting
	if root := p.root(); root != nil {
		leaves(root, "", func(path, value string) {
			found = append(found, Setting{Path: path, Value: value, Origin: OriginBase})
		})
	}
	switch {
	case p.Report != nil:
		// Explain lists the values in the same order as leaves.
		for i, value := range p.Report.Explain() {
			found[i].Origin = value.Origin
		}
	case p.Mode == ModeOverride:
		for i := range found {
			found[i].Origin = fmt.Sprintf("spec.overrideConfig (ConfigMap %q)",
				p.input.Stack.Spec.OverrideConfig.ConfigMapName)
		}
	}
	return found
}

// leaves visits every scalar and empty collection in order.
func leaves(node *yaml.Node, path string, visit func(path, value string)) {
	switch {
	case node.Kind == yaml.MappingNode && len(node.Content) > 0:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			if path != "" {
				key = path + "." + key
			}
			leaves(node.Content[i+1], key, visit)
		}
	case node.Kind == yaml.SequenceNode && len(node.Content) > 0:
		for i, item := range node.Content {
			leaves(item, path+"["+label(item, i)+"]", visit)
		}
	case len(node.Content) == 0 && node.Kind != yaml.ScalarNode:
		visit(path, map[yaml.Kind]string{yaml.MappingNode: "{}", yaml.SequenceNode: "[]"}[node.Kind])
	default:
		visit(path, node.Value)
	}
}

// Origins returns the origins of the differences that Compare lists, by Difference.What. An origin is from the later
// configuration, or from the earlier one if the value was removed. Only differences in the configuration have origins.
func Origins(before, after *Plan) map[string]string {
	origins := map[string]string{}
	for _, side := range []*Plan{before, after} {
		for _, setting := range side.Settings() {
			origins[setting.Path] = setting.Origin
			if name := typedProvider(setting.Path); name != "" {
				origins["provider "+name] = setting.Origin
			}
		}
	}
	return origins
}

// Port returns the port of the server and of its Service.
func (p *Plan) Port() string { return strconv.Itoa(int(p.Rendered.Inputs.Port)) }

// Image returns the image of the server's container.
func (p *Plan) Image() string { return p.Rendered.Inputs.Image }
