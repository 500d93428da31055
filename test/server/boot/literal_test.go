//go:build server

package boot

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestLiteralMapping shows that the tests of this package can detect a wrong configuration. Requirement FR-031 maps an
// endpoint to the key url, which the server reads in release 0.3 and earlier. Later releases ignore this key, and exit
// because the URL is missing. If only this key is replaced with the release's own key, the server starts.
func TestLiteralMapping(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		vllm, ok := rel.Provider("inference", "remote::vllm")
		if !ok {
			t.Fatal("the release has no remote::vllm")
		}
		for _, key := range []string{"url", "base_url"} {
			t.Run(key, func(t *testing.T) {
				t.Parallel()
				once(t, rel, func() { checkLiteral(t, rel, key, key == vllm.EndpointKey) })
			})
		}
	})
}

func checkLiteral(t *testing.T, rel *release.Release, key string, starts bool) {
	t.Helper()
	_, err := bootLiteral(t, rel, key)
	switch wantError := "You must provide a URL"; {
	case starts && err != nil:
		t.Fatal(err)
	case !starts && err == nil:
		t.Fatalf("the server started, want it to end with %q", wantError)
	case !starts && !strings.Contains(err.Error(), wantError):
		t.Fatalf("the server did not end with %q: %v", wantError, err)
	}
}

// bootLiteral starts a server with literalConfig. A command that is not the server's own reads the path of the
// configuration from the environment.
func bootLiteral(t *testing.T, rel *release.Release, key string, command ...string) (*llamaStack, error) {
	t.Helper()
	const token = "literal-mapping-token"
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	writeFile(t, config, strings.NewReplacer(
		"ENDPOINT_KEY", key, "ENDPOINT", startUpstream(t).url+"/v1", "HOME", home).Replace(literalConfig))
	env := []string{"TOKEN=" + token}
	if len(command) > 0 {
		env = append(env, names.EnvConfig+"="+config, names.EnvWorkers+"=1")
	}
	return startServer(t, boot{
		release: rel, config: config, command: command, home: home, env: env,
		client: http.DefaultClient, scheme: "http", secrets: []string{token},
	})
}

// literalConfig is the template of a configuration with which every release starts if ENDPOINT_KEY is the release's own
// key. Each release ignores the keys in the template that are for other releases.
const literalConfig = `version: 2
image_name: literal-mapping
distro_name: literal-mapping
apis: [inference]
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      ENDPOINT_KEY: ENDPOINT
      api_token: ${env.TOKEN}
` + storesInHome
