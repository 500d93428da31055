package casetable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// These keys of an entry hold the results for its object. `go test -update` writes them.
const (
	Server = "server"
	Go     = "go"
)

// Case is one object.
type Case struct {
	// Topic is the name of the file that contains the case. Name is the name of the case in that file.
	Topic, Name string
	// Object is the whole object as JSON values. If the entry has no distribution, Object has the distribution starter.
	Object map[string]any
	// Server is the response of the API server: "field: message" for each cause, sorted. It is empty if the API server
	// accepts the object.
	Server []string
	// Go is the result of validate.Spec. It is empty if validate.Spec accepts the object, or if the object cannot be
	// decoded.
	Go []string
	// ServerOnly is the reason why only the API server rejects the object. validate.Spec accepts such an object, or the
	// object cannot be decoded.
	ServerOnly string

	node *yaml.Node
}

// Folder is the directory of the table, below the repository's root.
const Folder = "internal/core/validate/testdata/cases"

// Table holds the cases in a directory.
type Table struct {
	Cases []*Case
	files map[string]*yaml.Node
}

type entry struct {
	Name       string         `yaml:"name"`
	Metadata   map[string]any `yaml:"metadata"`
	Spec       map[string]any `yaml:"spec"`
	Server     []string       `yaml:"server"`
	Go         []string       `yaml:"go"`
	ServerOnly string         `yaml:"serverOnly"`
}

// Load reads every YAML file in a directory.
func Load(folder string) (*Table, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list the cases in folder %s: %w", folder, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("folder %s has no cases", folder)
	}
	slices.Sort(files)
	table := &Table{files: make(map[string]*yaml.Node)}
	for _, file := range files {
		if err := table.read(file); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	return table, nil
}

func (t *Table) read(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return err
	}
	t.files[file] = &document
	var entries []entry
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&entries); err != nil {
		return err
	}
	topic := strings.TrimSuffix(filepath.Base(file), ".yaml")
	for i := range entries {
		c, err := entries[i].toCase(topic)
		if err != nil {
			return fmt.Errorf("case %q: %w", entries[i].Name, err)
		}
		c.node = document.Content[0].Content[i]
		t.Cases = append(t.Cases, c)
	}
	return nil
}

func (e *entry) toCase(topic string) (*Case, error) {
	spec := e.Spec
	if spec == nil {
		spec = map[string]any{}
	}
	if _, given := spec["distribution"]; !given {
		spec["distribution"] = map[string]any{"name": "starter"}
	}
	metadata := map[string]any{"name": "my-stack", "namespace": "default"}
	maps.Copy(metadata, e.Metadata)
	// After the JSON round trip, numbers have the types that an API server uses.
	data, err := json.Marshal(map[string]any{
		"apiVersion": v1alpha2.GroupVersion.String(), "kind": v1alpha2.Kind, "metadata": metadata, "spec": spec,
	})
	if err != nil {
		return nil, err
	}
	c := &Case{Topic: topic, Name: e.Name, Server: e.Server, Go: e.Go, ServerOnly: e.ServerOnly}
	return c, json.Unmarshal(data, &c.Object)
}

// Decode returns the object as its Go type.
func (c *Case) Decode() (*v1alpha2.LlamaStackDistribution, error) {
	data, err := json.Marshal(c.Object)
	if err != nil {
		return nil, err
	}
	object := &v1alpha2.LlamaStackDistribution{}
	return object, json.Unmarshal(data, object)
}

// Record sets the list under the key Server or Go to these messages. It removes the key if there are no messages.
func (c *Case) Record(key string, messages []string) {
	content := c.node.Content
	at := len(content)
	for i := 0; i < len(content); i += 2 {
		if content[i].Value == key {
			at, content = i, slices.Delete(content, i, i+2)
			break
		}
	}
	c.node.Content = content
	if len(messages) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, message := range messages {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.SingleQuotedStyle, Value: message})
	}
	c.node.Content = slices.Insert(content, at, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, list)
}

// Save writes the files with the recorded results.
func (t *Table) Save() error {
	for file, document := range t.files {
		var out bytes.Buffer
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		encoder.CompactSeqIndent()
		if err := encoder.Encode(document); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	return nil
}
