// Command crd completes the definition that controller-gen generates from the API's types. It adds the conversion
// webhook, and the bounds of quantities and of free-form objects, for which there are no markers. It removes the
// descriptions below embedded Kubernetes types. These descriptions would make up most of the file, and are the same as
// in `kubectl explain pod`. With them, the definition would not fit into the annotation that `kubectl apply` writes
// without server-side apply.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

// embedded lists the fields with Kubernetes types in each version, as paths of property names. The command keeps the
// descriptions of these fields, and removes the descriptions below them.
var embedded = map[string][]string{
	v1alpha1.GroupVersion.Version: {
		"spec.server.containerSpec.resources",
		"spec.server.containerSpec.env",
		"spec.server.topologySpreadConstraints",
		"spec.server.podOverrides.volumes",
		"spec.server.podOverrides.volumeMounts",
	},
	v1alpha2.GroupVersion.Version: {
		"spec.workload.resources",
		"spec.workload.topologySpreadConstraints",
		"spec.workload.overrides.imagePullSecrets",
		"spec.workload.overrides.env",
		"spec.workload.overrides.envFrom",
		"spec.workload.overrides.volumes",
		"spec.workload.overrides.volumeMounts",
	},
}

// conversion makes the API server call the operator to convert between the versions. The operator adds its certificate
// authority.
var conversion = map[string]any{
	"strategy": "Webhook",
	"webhook": map[string]any{
		"conversionReviewVersions": []string{"v1"},
		"clientConfig": map[string]any{"service": map[string]any{
			"namespace": names.OperatorNamespace, "name": names.WebhookService, "path": names.ConversionPath,
			"port": names.WebhookServicePort,
		}},
	},
}

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: crd FILE...") }
	flag.Parse()
	for _, file := range flag.Args() {
		if err := rewrite(file); err != nil {
			fmt.Fprintln(os.Stderr, "crd:", err)
			os.Exit(1)
		}
	}
}

func rewrite(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read definition: %w", err)
	}
	out, err := finish(data)
	if err != nil {
		return fmt.Errorf("finish %s: %w", file, err)
	}
	if err := os.WriteFile(file, out, 0o644); err != nil { //nolint:gosec // a public file of the repository
		return fmt.Errorf("write definition: %w", err)
	}
	return nil
}

// finish returns the definition with its conversion, and without the descriptions below the embedded types. A missing
// field causes an error: the field was probably renamed, and embedded must list the new name.
func finish(data []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("parse definition: %w", err)
	}
	spec := get(document.Content[0], "spec")
	for _, version := range get(spec, "versions").Content {
		if err := shorten(version); err != nil {
			return nil, err
		}
		bound(get(version, "schema", "openAPIV3Schema"))
	}
	if err := set(spec, "conversion", conversion); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("---\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&document); err != nil {
		return nil, fmt.Errorf("write definition: %w", err)
	}
	return out.Bytes(), nil
}

// shorten removes the descriptions of the fields inside each embedded type from the schema of a version. It keeps the
// description of the embedded type itself.
func shorten(version *yaml.Node) error {
	schema, name := get(version, "schema", "openAPIV3Schema"), get(version, "name").Value
	for _, path := range embedded[name] {
		node := property(schema, strings.Split(path, "."))
		if node == nil {
			return fmt.Errorf("version %q has no field %s", name, path)
		}
		description := get(node, "description")
		undescribe(node)
		node.Content = append([]*yaml.Node{scalar("description"), description}, node.Content...)
	}
	return nil
}

// bound gives every number that can be text a maximum length, and every quantity the form that bounds the cost of its
// parser. It also makes every free-form object atomic, so that the API server's record of field managers does not
// repeat its keys, and is not nested as deeply as the object.
func bound(node *yaml.Node) {
	if node.Kind == yaml.MappingNode && isTrue(child(node, "x-kubernetes-int-or-string")) {
		put(node, "maxLength", "!!int", strconv.Itoa(quantity.MaxLength))
		if pattern := child(node, "pattern"); pattern != nil {
			pattern.Value = quantity.Form
		}
	}
	freeForm := isTrue(child(node, "x-kubernetes-preserve-unknown-fields"))
	if kind := child(node, "type"); freeForm && kind != nil && kind.Value == "object" {
		put(node, "x-kubernetes-map-type", "!!str", "atomic")
	}
	for _, child := range node.Content {
		bound(child)
	}
}

func isTrue(node *yaml.Node) bool { return node != nil && node.Value == "true" }

// put adds a missing key to a mapping, as the last key.
func put(mapping *yaml.Node, key, tag, value string) {
	if child(mapping, key) != nil {
		return
	}
	mapping.Content = append(mapping.Content, scalar(key), &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value})
}

// set sets a key of a mapping. It adds a missing key as the first key.
func set(mapping *yaml.Node, key string, value any) error {
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	if there := child(mapping, key); there != nil {
		*there = node
		return nil
	}
	mapping.Content = append([]*yaml.Node{scalar(key), &node}, mapping.Content...)
	return nil
}

// property returns the schema at a path of property names.
func property(schema *yaml.Node, path []string) *yaml.Node {
	for _, name := range path {
		if schema = get(schema, "properties", name); schema == nil {
			return nil
		}
	}
	return schema
}

func get(node *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if node == nil {
			return nil
		}
		node = child(node, name)
	}
	return node
}

func child(node *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// undescribe removes the descriptions of a schema and of all schemas below it. It keeps a property that is named
// description, because the property is a mapping.
func undescribe(node *yaml.Node) {
	if node.Kind == yaml.MappingNode {
		kept := node.Content[:0]
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value != "description" || node.Content[i+1].Kind != yaml.ScalarNode {
				kept = append(kept, node.Content[i], node.Content[i+1])
			}
		}
		node.Content = kept
	}
	for _, child := range node.Content {
		undescribe(child)
	}
}

func scalar(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: value}
}
