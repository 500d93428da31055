//go:build server

package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/startup"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// eachRelease runs a test with the Python of each release, unless the test passed before with the same inputs; see
// realserver.Once. The test must not have subtests.
func eachRelease(t *testing.T, test func(t *testing.T, in interpreter)) {
	t.Helper()
	eachReleaseAgain(t, func(t *testing.T, in interpreter) { in.once(t, func() { test(t, in) }) })
}

// once runs a test with the release's Python, unless it passed before with the same inputs.
func (in interpreter) once(t *testing.T, run func()) {
	t.Helper()
	realserver.Once(t, []string{in.rel.Version}, run)
}

// eachReleaseAgain does the same as eachRelease, but in every run.
func eachReleaseAgain(t *testing.T, test func(t *testing.T, in interpreter)) {
	t.Helper()
	script := t.TempDir()
	for name, text := range startup.ExternalFiles() {
		writeFile(t, filepath.Join(script, name), text)
	}
	releases, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range releases {
		t.Run(rel.Version, func(t *testing.T) {
			bin, err := realserver.Install(t.Context(), rel.Version)
			if err != nil {
				t.Fatal(err)
			}
			test(t, interpreter{rel: rel, python: filepath.Join(bin, "python"), script: script})
		})
	}
}

// interpreter is the Python interpreter of a release.
type interpreter struct {
	rel    *release.Release
	python string
	script string // the directory that contains the program
}

// provider is an external provider of a stack: the program's input, and the provider's image.
type provider struct {
	Index  int    `json:"index"`
	API    string `json:"api"`
	ID     string `json:"id"`
	Ref    string `json:"image"`
	Path   string `json:"path"`
	Type   string `json:"type"`
	Module string `json:"module"`
	image  Image
}

// echo returns the provider that answers chat requests, from an image without a label.
func echo() provider { return from(Echo()) }

// from returns an inference provider from an image without a label.
func from(image Image) provider {
	return provider{
		API: "inference", ID: "echo", Ref: "example.com/echo:1", Path: "spec.externalProviders.inference[0]",
		image: image,
	}
}

// second returns the provider as the second entry of its list, with a different ID and image reference.
func (p provider) second() provider {
	p.Index, p.ID, p.Ref, p.Path = 1, "other", "example.com/other:1", "spec.externalProviders.inference[1]"
	return p
}

// labeled returns the provider with a type and a module, as if they came from the label of an image.
func (p provider) labeled(kind, module string) provider {
	p.Type, p.Module = kind, module
	return p
}

// volume is a stack's volume for external providers.
type volume struct {
	interpreter
	dir, config string
	providers   []provider
}

// volume copies the images as the init containers do, and writes the configuration.
func (in interpreter) volume(t *testing.T, providers ...provider) *volume {
	t.Helper()
	v := &volume{interpreter: in, dir: t.TempDir(), providers: providers}
	v.config = filepath.Join(t.TempDir(), "config.yaml")
	writeFile(t, v.config, configuration(providers))
	v.copy(t)
	return v
}

// copy copies the images to the volume, as the init containers before the program do.
func (v *volume) copy(t *testing.T) {
	t.Helper()
	for _, p := range v.providers {
		dir := filepath.Join(v.dir, names.ExternalImages, fmt.Sprint(p.Index))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := p.image.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// configuration returns a configuration with the providers, as the operator writes it.
func configuration(providers []provider) string {
	text := "version: 2\nproviders:\n  inference:\n"
	for _, p := range providers {
		kind, module := p.Type, ""
		if kind == "" {
			kind = "external::unknown"
		}
		if p.Module != "" {
			module = "\n    module: " + p.Module
		}
		text += fmt.Sprintf("  - provider_id: %s\n    provider_type: %s%s\n    config:\n      greeting: hello\n", p.ID, kind, module)
	}
	return text
}

// refusal contains the program's termination message.
type refusal struct{ Provider, Image, Message string }

// install runs the program. It returns the output and the rejection, which is nil when the program succeeds.
func (v *volume) install(t *testing.T, env ...string) (*refusal, string) {
	t.Helper()
	list, err := json.Marshal(v.providers)
	if err != nil {
		t.Fatal(err)
	}
	return v.installList(t, string(list), env...)
}

func (v *volume) installList(t *testing.T, list string, env ...string) (*refusal, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "termination-log")
	cmd := exec.CommandContext(t.Context(), v.python, filepath.Join(v.script, names.ExternalProgram),
		"--config", v.config, "--directory", v.dir, "--providers", list)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERMINATION_LOG=" + log}, env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &output, &output, time.Minute
	runErr := cmd.Run()
	text, err := os.ReadFile(log)
	if runErr == nil {
		if err == nil {
			t.Errorf("the program succeeded, but wrote the message %q", text)
		}
		return nil, output.String()
	}
	if exit, ok := errors.AsType[*exec.ExitError](runErr); !ok || exit.ExitCode() != 1 {
		t.Fatalf("the program ended with %v, want exit code 1\n%s", runErr, output.String())
	}
	if err != nil {
		t.Fatalf("the program failed without a message: %v\n%s", err, output.String())
	}
	var found refusal
	if err := json.Unmarshal(text, &found); err != nil || strings.Count(string(text), "\n") != 1 {
		t.Fatalf("the message is not one line of JSON: %q", text)
	}
	if len([]rune(found.Message)) > 900 || !strings.Contains(output.String(), found.Message) {
		t.Errorf("the message is too long, or the output does not contain it:\n%s\n%s", found.Message, output.String())
	}
	return &found, output.String()
}

// mustInstall runs the program, and fails the test if the program fails.
func (v *volume) mustInstall(t *testing.T) string {
	t.Helper()
	refused, output := v.install(t)
	if refused != nil {
		t.Fatalf("refused: %+v\n%s", *refused, output)
	}
	return output
}

// read returns the contents of a file on the volume.
func (v *volume) read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(v.dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tree returns the modes and the contents of the files on the volume, keyed by path.
func (v *volume) tree(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(v.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(v.dir, path)
		found[relative] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// version returns the version of one of the server's packages.
func (in interpreter) version(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), in.python, "-c", "import sys; from importlib import metadata; print(metadata.version(sys.argv[1]))", name).Output()
	if err != nil {
		t.Fatalf("get the version of %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}
