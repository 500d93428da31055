package probe_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// listingMCP serves a version, no providers, no models, and the MCP servers at one path.
func listingMCP(version, path string, mcp http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case path:
			mcp(w, r)
		case "/v1/models":
			fmt.Fprint(w, `{"data": []}`)
		case "/v1/version", "/v1/providers":
			answer(version)(w, r)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

// TestMCPServers checks that the result lists the MCP servers of every release with their IDs, that the list is sorted
// and bounded, and that the result contains no other part of the response.
func TestMCPServers(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf(`{"connector_id": "m%02d"}`, i))
	}
	first := make([]v1alpha2.MCPServerStatus, 20)
	for i := range first {
		first[i] = v1alpha2.MCPServerStatus{ID: fmt.Sprintf("m%02d", i)}
	}
	tickets := []v1alpha2.MCPServerStatus{{ID: "mcp::docs"}, {ID: "tickets"}}
	none := []v1alpha2.MCPServerStatus{}
	const groups = "/v1/toolgroups"
	for name, tc := range map[string]struct {
		version, path, answer string
		want                  []v1alpha2.MCPServerStatus
	}{
		"0.2": {"0.2.24", groups, listing(`{"identifier": "builtin::websearch", "provider_id": "tavily", "mcp_endpoint": null}`,
			`{"identifier": "tickets", "mcp_endpoint": {"uri": "http://u:`+canary+`@tickets"}, "args": {"key": "`+canary+`"}}`,
			`{"identifier": "mcp::docs", "mcp_endpoint": {"uri": "http://docs"}}`), tickets},
		"0.6": {"0.6.1", groups, listing(`{"identifier": "builtin::rag"}`), none},
		"0.7": {"0.7.3", "/v1beta/connectors", listing(`{"connector_id": "tickets", "connector_type": "mcp", "url": "http://`+canary+`"}`,
			`{"connector_id": "mcp::docs"}`, `{"connector_id": "other", "connector_type": "other"}`), tickets},
		"1.5": {
			"1.5.0", "/v1alpha/admin/connectors",
			listing(`{"connector_id": "mcp::docs"}`, `{"connector_id": "tickets"}`, `{"connector_id": "tickets"}`), tickets,
		},
		"invalid ids":  {"1.5.0", "/v1alpha/admin/connectors", listing(`{"connector_id": "a b"}`, `{}`), none},
		"too many":     {"0.7.3", "/v1beta/connectors", listing(many...), first},
		"not JSON":     {"0.7.3", "/v1beta/connectors", canary, none},
		"no such path": {"0.7.3", groups, listing(`{"identifier": "tickets"}`), none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, listingMCP(tc.version, tc.path, sending(tc.answer)), false)
			got := b.answered(t, probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321, MCP: true})
			if diff := cmp.Diff(tc.want, got.MCPServers); diff != "" {
				t.Errorf("MCP servers (-want +got):\n%s", diff)
			}
			if text := fmt.Sprintf("%+v", got) + b.logged(); strings.Contains(text, canary) {
				t.Errorf("the result contains a secret:\n%s", text)
			}
		})
	}
}

// TestMCPServersOnce checks that MCP servers are requested again after an error, are not requested again after a
// response, and are never requested for a stack without MCP servers.
func TestMCPServersOnce(t *testing.T) {
	var requests, failing atomic.Int32
	failing.Store(2)
	mcp := func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if failing.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		sending(listing(`{"connector_id": "tickets"}`))(w, r)
	}
	b := startWith(t, probe.Options{Interval: retry}, listingMCP("0.7.3", "/v1beta/connectors", mcp), false)
	target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
	if got := b.answered(t, target); got.MCPServers != nil || requests.Load() != 0 {
		t.Errorf("%d requests, MCP servers %+v; want none", requests.Load(), got.MCPServers)
	}
	target.Rollout, target.MCP = "2", true
	testutil.Within(t, soon, func() error {
		if got := b.Ask(target).MCPServers; len(got) != 1 || got[0].ID != "tickets" {
			return fmt.Errorf("MCP servers %+v", got)
		}
		return nil
	})
	b.quiet(t)
	if got := requests.Load(); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
}
