// Command chart writes the parts of the Helm chart that come from the folder config: the CustomResourceDefinition, the
// admission policy and its binding, the validating webhooks, and the rules of each role. The templates add names,
// labels and conditionals.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

const (
	definition = "config/crd/bases/llamastack.io_llamastackdistributions.yaml"
	policies   = "config/policy/"
	roles      = "config/rbac/"
	prefix     = "llama-stack-k8s-operator-"
)

// part is the part of an object that the chart uses.
type part struct {
	// source is a manifest file, and name is the name of the object in it.
	source, name string
	// key is the key of the object: spec, webhooks or rules. The part without a key is the whole file.
	key string
	// file is the file in the chart.
	file string
}

var parts = []part{
	{definition, "llamastackdistributions.llamastack.io", "spec", "customresourcedefinition.yaml"},
	{
		policies + "validatingadmissionpolicy.yaml", "llamastackdistributions.llamastack.io", "spec",
		"validatingadmissionpolicy.yaml",
	},
	{
		policies + "validatingadmissionpolicybinding.yaml", "llamastackdistributions.llamastack.io", "spec",
		"validatingadmissionpolicybinding.yaml",
	},
	{
		"config/webhook/validatingwebhookconfiguration.yaml", prefix + "validating-webhook-configuration", "webhooks",
		"validatingwebhookconfiguration.yaml",
	},
	{roles + "role.yaml", prefix + "manager-role", "rules", "manager-role.yaml"},
	{roles + "namespaced/role.yaml", prefix + "manager-role", "rules", "manager-role-namespaced.yaml"},
	{roles + "operator_role.yaml", prefix + "leader-election-role", "rules", "leader-election-role.yaml"},
	{roles + "metrics_role.yaml", prefix + "proxy-role", "rules", "metrics-auth-role.yaml"},
	{roles + "metrics_role.yaml", prefix + "metrics-reader", "rules", "metrics-reader.yaml"},
	{roles + "user_roles.yaml", prefix + "llsd-editor-role", "rules", "llsd-editor-role.yaml"},
	{roles + "user_roles.yaml", prefix + "llsd-viewer-role", "rules", "llsd-viewer-role.yaml"},
	{"config/monitoring/prometheusrule.yaml", prefix + "alerts", "spec", "prometheusrule.yaml"},
	{source: "config/monitoring/dashboard.json", file: "dashboard.json"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: chart FOLDER")
		os.Exit(2)
	}
	err := os.MkdirAll(os.Args[1], 0o755) //nolint:gosec // a public folder
	for _, each := range parts {
		if err == nil {
			err = write(each, os.Args[1])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func write(p part, folder string) error {
	data, err := os.ReadFile(p.source)
	if err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	out := data
	if p.key != "" {
		if out, err = take(data, p.name, p.key); err != nil {
			return fmt.Errorf("copy from %s: %w", p.source, err)
		}
		out = append(fmt.Appendf(nil, "# Generated from %s by make chart.\n", p.source), out...)
	}
	if err := os.WriteFile(filepath.Join(folder, p.file), out, 0o644); err != nil { //nolint:gosec // a public file of the repository
		return fmt.Errorf("write a chart file: %w", err)
	}
	return nil
}

// take returns the lines of one key of the object with the given name. The lines are unchanged, because encoding the
// YAML again would wrap text differently.
func take(data []byte, name, key string) ([]byte, error) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("there is no object %q", name)
		} else if err != nil {
			return nil, fmt.Errorf("parse manifest: %w", err)
		}
		object := document.Content[0]
		if metadata := value(object, "metadata"); metadata == nil || value(metadata, "name") == nil ||
			value(metadata, "name").Value != name {
			continue
		}
		first := line(object, key)
		if first == 0 {
			return nil, fmt.Errorf("object %q has no %s", name, key)
		}
		last := first
		for last < len(lines) && belongs(lines[last]) {
			last++
		}
		return bytes.Join(lines[first-1:last], nil), nil
	}
}

// belongs reports whether a line is part of the value of the key above it: the line is indented, begins a list entry,
// or is empty.
func belongs(line []byte) bool {
	return bytes.HasPrefix(line, []byte(" ")) || bytes.HasPrefix(line, []byte("- ")) || bytes.Equal(line, []byte("\n"))
}

// line returns the line number of a key in a mapping, or 0 if the key is missing.
func line(mapping *yaml.Node, key string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i].Line
		}
	}
	return 0
}

func value(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
