package stackconfig_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

func TestWantsText(t *testing.T) {
	text := stackconfig.WantsText(&intent.Intent{Providers: []intent.Provider{
		{API: "vector_io", ID: "pg", Type: "pgvector", Secrets: []intent.SecretKey{{Key: "host"}, {Key: "port"}, {Key: "nonsense"}}},
		{API: "inference", ID: "odd", Type: "remote::nobody-knows", Secrets: []intent.SecretKey{{Key: "host"}}},
	}, Settings: intent.Settings{Values: map[string]any{
		"server": map[string]any{"auth": map[string]any{"provider_config": map[string]any{"type": "custom", "endpoint": "${env.ENDPOINT}"}}},
	}}}, release.Default())
	for variable, want := range map[string]bool{
		"LLSD_PG_API_KEY": true, "LLSD_PG_HOST": true, "LLSD_PG_PORT": false, "LLSD_PG_NONSENSE": false,
		"LLSD_ODD_HOST": false, "LLSD_STORAGE_KV_PASSWORD": true, "MINE": false, "ENDPOINT": true,
	} {
		if got := text(variable); got != want {
			t.Errorf("text(%s) = %v, want %v", variable, got, want)
		}
	}
}
