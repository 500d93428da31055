//go:build server

package boot

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// offlineLines lists release lines that need different files and services when they start. In 0.5 and earlier, the
// server requests registered models from their providers. In 0.7 and later, the vector stores load their tokenizer. The
// test also runs the newest line.
var offlineLines = []string{"0.5", "0.7"}

// offlineReleases returns the releases of these lines, or the releases in RELEASES.
func offlineReleases(t *testing.T) []*release.Release {
	t.Helper()
	if realserver.Named() {
		releases, err := realserver.Releases()
		if err != nil {
			t.Fatal(err)
		}
		return releases
	}
	offered := release.Offered()
	var releases []*release.Release
	for _, line := range append(slices.Clone(offlineLines), offered[len(offered)-1]) {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, match.Release)
	}
	return releases
}

// TestOffline starts the server of a stack that sets spec.offline. No network is available. The test creates a vector
// store with a file, and finds the file's text with a search. It also checks which of the causes in endsOffline prevent
// the server from starting.
func TestOffline(t *testing.T) {
	t.Parallel()
	releases := offlineReleases(t)
	for _, rel := range releases {
		if _, err := realserver.Install(t.Context(), rel.Version); err != nil {
			t.Fatal(err)
		}
	}
	if !withoutNetwork(t) {
		return
	}
	for _, rel := range releases {
		t.Run(rel.Version, func(t *testing.T) {
			t.Parallel()
			t.Run("answers", func(t *testing.T) {
				planned := offlineSample(t, rel, (&sample{}).planned(), nil)
				once(t, rel, func() { answersOffline(t, rel) }, planned.input(t, rel))
			})
			t.Run("ends", func(t *testing.T) { endsOffline(t, rel) })
		})
	}
}

func answersOffline(t *testing.T, rel *release.Release) {
	t.Helper()
	s := offlineSample(t, rel, offlinePlace(t), nil)
	server, err := bootOffline(t, rel, s, support.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("offline: %s healthy after %.1f s", rel.Version, server.boot.Seconds())
	embed := model{provider: "vllm", name: "embed", upstream: "embed"}
	const text = "The winter apples lie in the cellar behind the mill."
	store, err := server.vectorStoreWithFile(t.Context(), "offline", "faiss", embed.public(rel), text)
	if err == nil {
		err = server.search(t.Context(), store, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("offline: %s finds the text of a file", rel.Version)
}

// endsOffline checks whether each cause in the table prevents the server of a release from starting. If spec.offline is
// set, the operator can reject a stack with one of the first two causes, so the test removes spec.offline in these two
// cases.
func endsOffline(t *testing.T, rel *release.Release) {
	for _, tt := range []offlineCase{
		{
			name: "a model of a public service", says: "ConnectionError", tokenizer: support.Tokenizer,
			ends: rel.Runtime.ModelsAskedAtStart,
			edit: func(spec map[string]any) {
				delete(spec, "offline")
				withoutKeys(spec)
				mapping(spec, "resources")["models"] = []any{map[string]any{"name": "gpt-4o", "provider": "openai"}}
				mapping(spec, "providers")["inference"] = map[string]any{
					"provider": "openai", "apiKey": secretKey("openai", "key"),
				}
			},
		},
		{
			name: "files in S3", says: "EndpointConnectionError", tokenizer: support.Tokenizer, ends: true, needs: "boto3",
			edit: func(spec map[string]any) {
				delete(spec, "offline")
				withoutKeys(spec)
				mapping(spec, "providers")["files"] = map[string]any{"provider": "s3", "settings": map[string]any{
					"bucket_name": "mine", "aws_access_key_id": "some-id", "aws_secret_access_key": "some-key",
				}}
			},
		},
		{name: "no tokenizer", says: rel.Offline.Tokenizer, tokenizer: t.TempDir(), edit: withoutKeys, ends: rel.Offline.Tokenizer != ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.needs != "" && !installed(t, rel, tt.needs) {
				t.Skipf("release %s is installed without %s", rel.Version, tt.needs)
			}
			planned := tt.sample(t, rel, (&sample{}).planned())
			once(t, rel, func() { tt.check(t, rel) }, planned.input(t, rel))
		})
	}
}

// offlineCase is a cause that may prevent the server from starting.
type offlineCase struct {
	name, says, tokenizer string
	edit                  func(spec map[string]any)
	ends                  bool
	// needs is a Python package that the case requires. The test environments of some releases do not contain it.
	needs string
}

func (tt *offlineCase) sample(t *testing.T, rel *release.Release, on place) sample {
	t.Helper()
	s := offlineSample(t, rel, on, tt.edit)
	s.secrets["openai"] = map[string]string{"key": "some-key"}
	return s
}

func (tt *offlineCase) check(t *testing.T, rel *release.Release) {
	t.Helper()
	server, err := bootOffline(t, rel, tt.sample(t, rel, offlinePlace(t)), tt.tokenizer)
	ended, ok := errors.AsType[*bootError](err)
	switch {
	case err != nil && !ok:
		t.Fatal(err)
	case ok != tt.ends:
		t.Fatalf("ends %t, want %t: %v", ok, tt.ends, err)
	case ok && !strings.Contains(ended.log, tt.says):
		t.Errorf("the log does not contain %q: %v", tt.says, ended)
	case ok:
		t.Logf("offline: %s ends with %s", rel.Version, tt.name)
	default:
		server.stop()
	}
}

// installed reports whether the environment of a release contains a package.
func installed(t *testing.T, rel *release.Release, name string) bool {
	t.Helper()
	bin, err := realserver.Install(t.Context(), rel.Version)
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(bin, "..", "lib", "python3.*", "site-packages", name))
	if err != nil {
		t.Fatal(err)
	}
	return len(found) > 0
}

// withoutKeys removes the keys of public services. Otherwise, the providers of these services try to connect, and
// these attempts take time.
func withoutKeys(spec map[string]any) { delete(mapping(spec, "workload", "overrides"), "env") }

// offlinePlace starts the model server of an offline stack.
func offlinePlace(t *testing.T) place {
	t.Helper()
	on := place{models: startUpstream(t)}
	on.models.serve("embed")
	return on
}

// offlineSample returns the stack for a release, changed by the function edit.
func offlineSample(t *testing.T, rel *release.Release, on place, edit func(spec map[string]any)) sample {
	t.Helper()
	s := readSample(t, "testdata/offline/stack.yaml")
	s.fit(t, rel, on)
	if edit != nil {
		s.edit(t, edit)
	}
	return s
}

// bootOffline starts the server of the stack with a volume of model files that contains the files in the directory
// tokenizer.
func bootOffline(t *testing.T, rel *release.Release, s sample, tokenizer string) (*llamaStack, error) {
	t.Helper()
	p := generate(t, rel, s, t.TempDir())
	return bootWithFiles(t, rel, s, p, map[string]string{"tiktoken": tokenizer})
}

// bootWithFiles starts the pod's programs with copies of directories in its volume of model files.
func bootWithFiles(
	t *testing.T, rel *release.Release, s sample, p pod, directories map[string]string,
) (*llamaStack, error) {
	t.Helper()
	files := p.mounts[names.ModelFilesDir]
	for name, dir := range directories {
		if err := os.CopyFS(filepath.Join(files, name), os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	readOnly(t, files)
	return startServer(t, boot{
		release: rel, config: p.config, home: p.home(t), env: p.env, wrapper: p.wrapper, client: http.DefaultClient,
		scheme:  "http",
		secrets: s.secrets.values(), ownFiles: true,
	})
}
