package plan

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// withServer is a user's configuration with what workload asks for in its server section. Everything else stays as it
// is, comments too.
func withServer(data []byte, spec *v1alpha2.LlamaStackDistributionSpec) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("is not YAML: %w", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is no mapping")
	}
	root := document.Content[0]
	server := yamlnode.Get(root, "server")
	switch {
	case yamlnode.IsNull(server):
		server = yamlnode.Map()
		yamlnode.Set(root, "server", server)
	case server.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("line %d: server is no mapping", server.Line)
	}
	yamlnode.Set(server, "workers", yamlnode.Int(int64(render.Workers(spec))))

	var result bytes.Buffer
	encoder := yaml.NewEncoder(&result)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return result.Bytes(), nil
}
