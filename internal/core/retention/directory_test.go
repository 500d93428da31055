package retention_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
)

func TestDirectory(t *testing.T) {
	store := func(store retention.Store) *retention.Places {
		return &retention.Places{Version: 1, Stores: map[string]retention.Store{"kv_default": store}}
	}
	for name, tc := range map[string]struct {
		places *retention.Places
		want   string
	}{
		"nothing runs":               {},
		"no store":                   {places: &retention.Places{Version: 1}},
		"another form":               {places: &retention.Places{Version: 99}},
		"a file":                     {places: store(retention.Store{Type: "kv_sqlite", At: "/data/a/kvstore.db"}), want: "/data/a"},
		"a directory in a variable":  {places: store(retention.Store{Type: "kv_sqlite", At: "/x/k.db", Text: "${env.D:=/x}/k.db"}), want: "${env.D:=/x}"},
		"only a variable":            {places: store(retention.Store{Type: "kv_sqlite", At: "/x/k.db", Text: "${env.D:=/x/k.db}"})},
		"a truncated path":           {places: store(retention.Store{Type: "kv_sqlite", At: "/" + strings.Repeat("x", 100) + "…abc/k.db"})},
		"a server":                   {places: store(retention.Store{Type: "kv_redis", At: "redis:6379/0"})},
		"a file without a directory": {places: store(retention.Store{Type: "kv_sqlite", At: "k.db"})},
	} {
		if got := tc.places.Directory(); got != tc.want {
			t.Errorf("%s: directory %q, want %q", name, got, tc.want)
		}
	}
}
