//go:build server

package external

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// newest runs a test with the Python of the newest release, unless the test passed before with the same inputs.
func newest(t *testing.T, test func(t *testing.T, in interpreter)) {
	t.Helper()
	newestAgain(t, func(t *testing.T, in interpreter) { in.once(t, func() { test(t, in) }) })
}

// newestAgain does the same as newest, but in every run.
func newestAgain(t *testing.T, test func(t *testing.T, in interpreter)) {
	t.Helper()
	offered := release.Offered()
	eachReleaseAgain(t, func(t *testing.T, in interpreter) {
		if in.rel.Line != offered[len(offered)-1] {
			t.Skip("this test runs only with the newest release")
		}
		test(t, in)
	})
}

// TestTimeLimit checks that the program exits at its time limit, and that its message reports this.
func TestTimeLimit(t *testing.T) {
	const hangs = `import sys, time
sys.path.insert(0, sys.argv.pop(1))
import external_providers
external_providers.SECONDS = 1
external_providers.install = lambda *_: time.sleep(60)
sys.exit(external_providers.main())
`
	newest(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, echo())
		v.python = wrapper(t, fmt.Sprintf("exec %s -c \"$(cat %s)\" %s \"$@\"", in.python, file(t, hangs), in.script))
		begin := time.Now()
		refused, _ := v.install(t)
		if refused == nil || !strings.HasPrefix(refused.Message, "The installation took longer than 1 s. ") {
			t.Errorf("the message of the program is %+v", refused)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("the program took %s", took)
		}
	})
}

// TestLibraries checks the messages for libraries that the program needs and that the server's image does not contain.
func TestLibraries(t *testing.T) {
	newestAgain(t, func(t *testing.T, in interpreter) {
		libraries := func(links map[string]string) string {
			dir := t.TempDir()
			for name, library := range links {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join(in.packages(t), library), filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			return dir
		}
		bare := wrapper(t, fmt.Sprintf("exec %s -S \"$@\"", in.python))
		tests := map[string]struct {
			libraries map[string]string
			want      string
		}{
			"neither": {nil, "The server's image does not contain the Python library yaml."},
			"YAML":    {map[string]string{"yaml": "yaml"}, "The server's image has neither the Python package packaging nor pip. Add one of them to the server's image."},
			"pip":     {map[string]string{"yaml": "yaml", "pip/_vendor/packaging": "packaging"}, ""},
			"both":    {map[string]string{"yaml": "yaml", "packaging": "packaging"}, ""},
		}
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				in.once(t, func() {
					w := EchoWheel()
					w.Requires = nil
					v := in.volume(t, from(New(EchoSpec(), w, Words())))
					v.python = bare
					refused, output := v.install(t, "PYTHONPATH="+libraries(test.libraries))
					switch {
					case test.want == "" && refused != nil:
						t.Errorf("refused: %s", output)
					case test.want != "" && (refused == nil || refused.Message != test.want):
						t.Errorf("the message of the program is %+v, want %q", refused, test.want)
					}
				})
			})
		}
	})
}

// TestDisk checks the message if the program cannot write a file. A file size limit simulates a full volume.
func TestDisk(t *testing.T) {
	newest(t, func(t *testing.T, in interpreter) {
		w := extra()
		w.Files = map[string]string{"acme_extra.bin": strings.Repeat("x", 256<<10)}
		v := in.volume(t, from(New(EchoSpec(), EchoWheel(), Words(), w)))
		v.python = wrapper(t, fmt.Sprintf("ulimit -f 128; exec %s \"$@\"", in.python))
		refused, _ := v.install(t)
		if refused == nil || !strings.HasPrefix(refused.Message, "The files cannot be installed: File too large: ") {
			t.Errorf("the message of the program is %+v", refused)
		}
	})
}

// TestWithoutTerminationLog checks that the program prints the message when it cannot write the termination log.
func TestWithoutTerminationLog(t *testing.T) {
	newest(t, func(t *testing.T, in interpreter) {
		cmd := exec.CommandContext(t.Context(), in.python, filepath.Join(in.script, names.ExternalProgram), "--config",
			"/does/not/exist")
		cmd.Env = []string{"TERMINATION_LOG=/does/not/exist"}
		output, err := cmd.CombinedOutput()
		const want = "external providers: The option --directory is missing.\nexternal providers: the termination message cannot be written: No such file or directory\n"
		if err == nil || string(output) != want {
			t.Errorf("the program ended with %v and the message %q, want %q", err, output, want)
		}
	})
}

// TestMessagesOmitEnvironment checks that the output for a metadata file with a reference to a variable does not
// contain the variable's value, because this value may be secret.
func TestMessagesOmitEnvironment(t *testing.T) {
	newest(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, from(Echo().With(SpecFile, "x: ${SECRET}")))
		_, output := v.install(t, "SECRET=canary", "canary=SECRET")
		if strings.Contains(output, "canary") {
			t.Errorf("the output of the program contains values from the environment:\n%s", output)
		}
	})
}

// TestTime checks that the program uses at most two seconds of processor time for two providers. It runs every time,
// because it measures this machine.
func TestTime(t *testing.T) {
	eachReleaseAgain(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, echo(), echo().second())
		const list = `[{"index":0,"api":"inference","id":"echo","image":"a","path":"b"},{"index":1,"api":"inference","id":"other","image":"a","path":"b"}]`
		cmd := exec.CommandContext(t.Context(), in.python, filepath.Join(in.script, names.ExternalProgram),
			"--config", v.config, "--directory", v.dir, "--providers", list)
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		// The processor time does not depend on the load on the machine.
		if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); took > 2*time.Second {
			t.Errorf("two providers took %s, want at most 2 s", took)
		}
	})
}

// packages returns the directory of the release's Python packages.
func (in interpreter) packages(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(in.python), "..", "lib", "python3.*", "site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the packages of %s are in %q (%v)", in.python, found, err)
	}
	return found[0]
}

// wrapper writes a shell script with one command, and returns its path.
func wrapper(t *testing.T, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wrapper")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// file writes content to a file and returns the path of the file.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, path, content)
	return path
}

// TestRandomWheels checks that the program either installs or rejects a provider after a random change to its wheel or
// metadata file, and never crashes.
func TestRandomWheels(t *testing.T) {
	rounds := "60"
	if realserver.Named() {
		rounds = "600"
	}
	newest(t, func(t *testing.T, in interpreter) {
		v := in.volume(t, echo())
		cmd := exec.CommandContext(t.Context(), in.python, "random_wheels.py", in.script, filepath.Join(v.dir, "images"),
			rounds)
		var problems strings.Builder
		cmd.Stderr = &problems
		if output, err := cmd.Output(); err != nil {
			t.Errorf("%v\n%s", err, problems.String())
		} else if !strings.HasPrefix(string(output), rounds+" rounds, ") {
			t.Errorf("the output of the program is %q", output)
		}
	})
}
