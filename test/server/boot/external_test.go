//go:build server

package boot

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/startup"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// externalStack is a stack with one external provider. The program that pods run installs the provider.
type externalStack struct {
	release *release.Release
	// entry is the provider's config, and models lists the models, both as YAML in the operator's configuration.
	api, entry, models string
	// labeled means that the operator has read the type and the module from a label of the image.
	labeled      bool
	kind, module string
	image        external.Image
}

// externalConfig is the template of a configuration with one provider. Every release accepts this form.
const externalConfig = `version: 2
image_name: external
distro_name: external
apis: [API]
providers:
  API:
  - provider_id: outside
    provider_type: TYPE
    config: ENTRY
models: MODELS
registered_resources: {models: MODELS}
` + storesInHome

// storesInHome is the end of a configuration with which every release starts. Its files are in HOME.
const storesInHome = `metadata_store: {type: sqlite, db_path: HOME/registry.db}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: HOME/kv.db}
    sql_default: {type: sql_sqlite, db_path: HOME/sql.db}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    inference: {table_name: inference_store, backend: sql_default}
    conversations: {table_name: openai_conversations, backend: sql_default}
server: {insecure: true}
`

// config returns the operator's configuration for the stack.
func (s externalStack) config(home string) string {
	kind := "external::unknown"
	if s.labeled {
		kind = s.kind + "\n    module: " + s.module
	}
	models := s.models
	if models == "" {
		models = "[]"
	}
	return strings.NewReplacer("API", s.api, "TYPE", kind, "ENTRY", s.entry, "MODELS", models, "HOME",
		home).Replace(externalConfig)
}

// install installs the provider as the init containers do, and returns the directory of their volume.
func (s externalStack) install(t *testing.T, home string) string {
	t.Helper()
	bin, err := realserver.Install(t.Context(), s.release.Version)
	if err != nil {
		t.Fatal(err)
	}
	script, volume, config := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "config.yaml")
	for name, text := range startup.ExternalFiles() {
		writeFile(t, filepath.Join(script, name), text)
	}
	writeFile(t, config, s.config(home))
	if err := s.image.Write(filepath.Join(volume, names.ExternalImages, "0")); err != nil {
		t.Fatal(err)
	}
	entry := map[string]any{
		"index": 0, "api": s.api, "id": "outside", "image": "example.com/outside:1",
		"path": "spec.externalProviders." + s.api + "[0]",
	}
	if s.labeled {
		entry["type"], entry["module"] = s.kind, s.module
	}
	list, err := json.Marshal([]any{entry})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "python"), filepath.Join(script, names.ExternalProgram),
		"--config", config, "--directory", volume, "--providers", string(list))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERMINATION_LOG=" + filepath.Join(script, "message")}
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, output)
	}
	return volume
}

// start installs the provider and starts the server with it.
func (s externalStack) start(t *testing.T, env ...string) (*llamaStack, error) {
	t.Helper()
	home := t.TempDir()
	volume := s.install(t, home)
	return startServer(t, boot{
		release: s.release, config: filepath.Join(volume, names.ExternalConfig, "config.yaml"), home: home,
		env:    append([]string{"PYTHONPATH=" + filepath.Join(volume, names.ExternalPackages)}, env...),
		client: http.DefaultClient, scheme: "http", secrets: []string{externalToken},
	})
}

// externalToken is a secret value that the provider reads from the environment.
const externalToken = "external-provider-token"

// echoStack returns a stack with the provider that answers chat requests itself.
func echoStack(rel *release.Release) externalStack {
	return externalStack{
		release: rel, api: "inference", kind: external.EchoType, module: external.EchoModule, image: external.Echo(),
		entry:  "{greeting: hello, token: '${env.TOKEN}'}",
		models: "[{model_id: said, provider_id: outside, provider_model_id: said, model_type: llm}]",
	}
}

// TestExternalProvider uses an external provider in the server of each release. An image label changes only the
// operator's configuration, and not the final configuration of the server. Therefore, the test uses an image with a
// label only for the releases in RELEASES.
func TestExternalProvider(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		for name, labeled := range map[string]bool{"unlabeled": false, "labeled": true} {
			if labeled && !realserver.Named() {
				continue
			}
			t.Run(name, func(t *testing.T) { once(t, rel, func() { useExternal(t, rel, labeled) }) })
		}
	})
}

func useExternal(t *testing.T, rel *release.Release, labeled bool) {
	t.Helper()
	stack := echoStack(rel)
	stack.labeled = labeled
	server, err := stack.start(t, "TOKEN="+externalToken)
	if err != nil {
		t.Fatal(err)
	}
	server.checkProvider(t, provider{API: "inference", ID: "outside", Type: external.EchoType})
	models, err := server.list(t.Context(), "/v1/models")
	if err != nil || len(models) != 1 {
		t.Fatalf("models are %q (%v), want one", models, err)
	}
	answer, err := server.chat(t.Context(), models[0])
	if want := "hello world, 23 characters of token"; err != nil || answer != want {
		t.Errorf("the model answers %q (%v), want %q", answer, err, want)
	}
}

// checkProvider checks that the server lists a provider.
func (s *llamaStack) checkProvider(t *testing.T, want provider) {
	t.Helper()
	found, err := s.providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(found, want) {
		t.Errorf("the server has the providers %v, want %v among them", found, want)
	}
}
