//go:build server

package boot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestInput shows that the input of a server, which is part of the key of a test case, is the same in every run, and
// that it changes with every part of the stack and of the pod.
func TestInput(t *testing.T) {
	rel := release.Default()
	text := func(change func(s *sample), spoil func(p *pod)) string {
		t.Helper()
		s := readSample(t, "v1alpha2-full.yaml")
		s.fit(t, rel, s.planned())
		s.addKeyPair(keyPair{})
		change(&s)
		p := generate(t, rel, s, t.TempDir())
		spoil(&p)
		data, err := json.Marshal(s.inputOf(t, p))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	same, samePod := func(*sample) {}, func(*pod) {}
	before := text(same, samePod)
	if again := text(same, samePod); again != before {
		t.Errorf("the input differs from run to run:\n%s\n%s", before, again)
	}
	for name, change := range map[string]func(s *sample){
		"spec":   func(s *sample) { s.stack.Spec.Networking.Port = 9999 },
		"secret": func(s *sample) { s.secrets["vllm-creds"]["token"] = "another" },
	} {
		if text(change, samePod) == before {
			t.Errorf("the input does not change with the %s", name)
		}
	}
	for name, spoil := range map[string]func(p *pod){
		"configuration": func(p *pod) { writeFile(t, p.config, "version: 2") },
		"script": func(p *pod) {
			writeFile(t, filepath.Join(p.mounts[names.StartupDir], names.RegistryProgram), "print()")
		},
		"path":        func(p *pod) { p.config += "2" },
		"environment": func(p *pod) { p.env[len(p.env)-1] += "2" },
		"command":     func(p *pod) { p.wrapper = append(p.wrapper, "2") },
		"added file": func(p *pod) {
			if err := os.MkdirAll(filepath.Join(p.root, "volumes", "added"), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(p.root, "volumes", "added", "file"), "")
		},
	} {
		if text(same, spoil) == before {
			t.Errorf("the input does not change with the %s of the pod", name)
		}
	}
}
