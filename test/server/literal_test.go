//go:build server

package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLiteralMapping shows that the test can fail. The requirement FR-031 maps
// an endpoint to the key url, which the server read up to release 0.3: this
// release ignores it and ends for want of a URL. With the release's own key,
// and nothing else changed, the same configuration boots.
func TestLiteralMapping(t *testing.T) {
	for _, tc := range []struct {
		key       string
		wantError string // part of the server's own message; empty: boots
	}{
		{key: "base_url"},
		{key: "url", wantError: "You must provide a URL"},
	} {
		t.Run(tc.key, func(t *testing.T) {
			t.Parallel()
			const token = "literal-mapping-token"
			home := t.TempDir()
			config := filepath.Join(home, "config.yaml")
			text := strings.NewReplacer("ENDPOINT_KEY", tc.key, "ENDPOINT", startUpstream(t).url+"/v1").Replace(literalConfig)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := startServer(t, boot{
				config: config, home: home, env: []string{"TOKEN=" + token},
				client: http.DefaultClient, scheme: "http", secrets: []string{token},
			})
			switch {
			case tc.wantError == "" && err != nil:
				t.Fatal(err)
			case tc.wantError != "" && err == nil:
				t.Fatalf("the server booted, want it to end with %q", tc.wantError)
			case tc.wantError != "" && !strings.Contains(err.Error(), tc.wantError):
				t.Fatalf("the server did not end with %q: %v", tc.wantError, err)
			}
		})
	}
}

const literalConfig = `version: 2
distro_name: literal-mapping
apis: [inference]
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      ENDPOINT_KEY: ENDPOINT
      api_token: ${env.TOKEN}
`
