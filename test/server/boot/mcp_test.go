//go:build server

package boot

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// mcpTool is the only tool of the MCP server.
const mcpTool = "close_ticket"

// startMCP starts an MCP server with one tool and returns its URL. The server implements the HTTP form of the protocol
// without streams: it answers every request immediately.
func startMCP(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", answerMCP)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

func answerMCP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var result any
	switch request.Method {
	case "initialize":
		result = map[string]any{
			"protocolVersion": request.Params.ProtocolVersion,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "tickets", "version": "1"},
		}
	case "tools/list":
		result = map[string]any{"tools": []any{map[string]any{
			"name": mcpTool, "description": "Closes a ticket.",
			"inputSchema": map[string]any{
				"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}},
			},
		}}}
	default: // notifications receive no response
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": result})
}
