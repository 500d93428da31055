package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const (
	// maxMCPServers bounds the list of MCP servers, which is stored in an object's status.
	maxMCPServers = 20
	// toolGroupsPath is the path of the list of tool groups, including those of MCP servers, up to release 0.6.
	toolGroupsPath = "/v1/toolgroups"
	// betaConnectorsPath is the path of the list of MCP servers in releases 0.7 and 0.8, which call them connectors.
	betaConnectorsPath = "/v1beta/connectors"
	// connectorsPath is the path of the list of connectors from release 1.0 on.
	connectorsPath = "/v1alpha/admin/connectors"
)

// mcpPath returns the path at which a server of the given version lists its MCP servers (server fact 76). The path is
// empty for a version that cannot be parsed.
func mcpPath(version string) string {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	minor, minorErr := strconv.Atoi(second)
	switch {
	case err != nil || minorErr != nil:
		return ""
	case major == 0 && minor <= 6:
		return toolGroupsPath
	case major == 0:
		return betaConnectorsPath
	default:
		return connectorsPath
	}
}

// mcpServers requests a server's list of MCP servers. It drops their addresses, which can contain credentials.
func (c client) mcpServers(ctx context.Context, target Target, version string) ([]v1alpha2.MCPServerStatus, error) {
	path := mcpPath(version)
	if path == "" {
		return []v1alpha2.MCPServerStatus{}, nil
	}
	return fetch(ctx, c, target, path, maxAnswer, parseMCPServers)
}

// parseMCPServers parses a list of connectors ("connector_id", "connector_type") or a list of tool groups
// ("identifier"). Tool groups with "mcp_endpoint" are MCP servers. The function omits entries with an invalid ID, and
// entries after the first maxMCPServers.
func parseMCPServers(body []byte) ([]v1alpha2.MCPServerStatus, error) {
	type resource struct {
		Connector     string          `json:"connector_id"`
		ConnectorType string          `json:"connector_type"`
		Group         string          `json:"identifier"`
		Endpoint      json.RawMessage `json:"mcp_endpoint"`
	}
	data, err := dataOf[resource](body, "MCP servers")
	if err != nil {
		return nil, err
	}
	list := []v1alpha2.MCPServerStatus{}
	for i := range data {
		entry := &data[i]
		isGroup := entry.Group != "" && len(entry.Endpoint) > 0 && string(entry.Endpoint) != "null"
		isConnector := entry.Connector != "" && cmp.Or(entry.ConnectorType, "mcp") == "mcp"
		if id := cmp.Or(entry.Connector, entry.Group); (isGroup || isConnector) && nameForm.matches(id) {
			list = append(list, v1alpha2.MCPServerStatus{ID: id})
		}
	}
	slices.SortFunc(list, func(a, b v1alpha2.MCPServerStatus) int { return cmp.Compare(a.ID, b.ID) })
	list = slices.Compact(list)
	return slices.Clone(list[:min(len(list), maxMCPServers)]), nil // a part would keep all of the list in memory
}
