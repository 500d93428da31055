package stackconfig_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func secretKey(key, variable string) intent.SecretKey {
	return intent.SecretKey{Key: key, SecretRef: intent.SecretRef{EnvVar: variable}}
}

func TestWantsText(t *testing.T) {
	text := stackconfig.WantsText(&intent.Intent{
		Providers: []intent.Provider{
			{
				API: "vector_io", ID: "pg", Type: "pgvector", APIKey: &intent.SecretRef{EnvVar: "LLSD_PG_API_KEY"},
				Secrets: []intent.SecretKey{
					secretKey("host", "LLSD_PG_HOST"), secretKey("port", "LLSD_PG_PORT"), secretKey("nonsense", "LLSD_PG_NONSENSE"),
				},
			},
			{API: "inference", ID: "odd", Type: "remote::nobody-knows", Secrets: []intent.SecretKey{
				secretKey("host", "LLSD_ODD_HOST"), secretKey("api_key", "LLSD_ODD_API_KEY"),
			}},
		}, Storage: intent.Storage{KV: &intent.Store{Password: &intent.SecretRef{EnvVar: "LLSD_STORAGE_KV_PASSWORD"}}},
		Settings: intent.Settings{Values: map[string]any{
			"server": map[string]any{"auth": map[string]any{"provider_config": map[string]any{
				"type":     "custom",
				"endpoint": "${env.ENDPOINT}",
			}}},
		}},
	}, release.Default())
	for variable, want := range map[string]bool{
		"LLSD_PG_API_KEY": true, "LLSD_PG_HOST": true, "LLSD_PG_PORT": false, "LLSD_PG_NONSENSE": false,
		"LLSD_ODD_HOST": false, "LLSD_ODD_API_KEY": true, "LLSD_STORAGE_KV_PASSWORD": true, "MINE": false, "ENDPOINT": true,
	} {
		if got := text(variable); got != want {
			t.Errorf("text(%s) = %v, want %v", variable, got, want)
		}
	}
}
