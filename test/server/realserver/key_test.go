package realserver

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// standIn is a program in place of a release's Python, with copies of everything that is part of a verdict's key.
type standIn struct {
	inputs
	python, log string
}

// newStandIn returns a program that answers each request with the given line, and logs that it was asked.
func newStandIn(t *testing.T, answer string) standIn {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	in, err := inputsOf("0.7.3", "/environment/bin")
	if err != nil {
		t.Fatal(err)
	}
	s := standIn{
		inputs: inputs{root: filepath.Join(dir, "root"), machine: in.machine},
		python: filepath.Join(dir, "python"), log: filepath.Join(dir, "log"),
	}
	for _, file := range in.files {
		s.files = append(s.files, filepath.Join(dir, filepath.Base(file)))
		write(t, s.files[len(s.files)-1], "of this run")
	}
	for file, content := range map[string]string{
		"checker.go": "package realserver\n\nfunc NewChecker() { fill() }\n", "check.py": "of this run",
		"fill.go": "package realserver\n\nfunc fill() {}\n", "fill_test.go": "package realserver\n",
	} {
		write(t, s.program(file), content)
	}
	write(t, s.log, "")
	write(t, s.python, fmt.Sprintf("#!/bin/sh\nwhile read -r request; do echo asked >>%s; %s; done\n", s.log, answer))
	return s
}

// program returns the path of a file of the checker.
func (in inputs) program(file string) string {
	return filepath.Join(in.root, "test", "server", "realserver", file)
}

// asked checks a request with a new checker, keeps the verdict, and reports whether the program was asked.
func (s *standIn) asked(t *testing.T, request Request) bool {
	t.Helper()
	checker, err := newChecker("0.7.3", s.python, Support{}, s.inputs)
	if err != nil {
		t.Fatal(err)
	}
	defer checker.Close()
	before := read(t, s.log)
	given, err := checker.Check(t.Context(), request)
	if err == nil {
		err = checker.Keep(given)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read(t, s.log) != before
}

const accepts = `echo '{"ok": true}'`

// TestInputs shows which files are part of a verdict's key.
func TestInputs(t *testing.T) {
	in, err := inputsOf("0.7.3", "/environment/bin")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range in.files {
		names = append(names, filepath.Base(file))
	}
	if diff := cmp.Diff([]string{"server-0.7.3.txt", "support.txt", "pyvenv.cfg"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, program := range []string{"check.py", "checker.go", "fill.go"} {
		if _, err := os.Stat(in.program(program)); err != nil {
			t.Errorf("the programs do not include %s: %v", program, err)
		}
	}
}

// TestChangedInputs shows that a kept verdict is used until an input changes, and that the server is then asked again.
func TestChangedInputs(t *testing.T) {
	s := newStandIn(t, accepts)
	request := Request{Tier: Parse, Config: "version: 2"}
	if !s.asked(t, request) || s.asked(t, request) {
		t.Fatal("the program was not asked exactly once")
	}
	for _, file := range append(slices.Clone(s.files), s.program("check.py"), s.program("added.py")) {
		write(t, file, "changed")
		if !s.asked(t, request) {
			t.Errorf("the program is not asked after %s changes", filepath.Base(file))
		}
	}
	write(t, s.program("fill.go"), "package realserver\n\nfunc fill() { panic(1) }\n")
	if !s.asked(t, request) {
		t.Error("the program is not asked after the code of the checker changes")
	}
	for i := range s.machine {
		s.machine[i] += "2"
		if !s.asked(t, request) {
			t.Errorf("the program is not asked on a machine with a different %s", s.machine[i])
		}
	}
	write(t, s.program("fill_test.go"), "package realserver\n\nfunc fillAll() {}\n")
	write(t, s.program("passed.go"), "package realserver\n\nfunc Record() { panic(1) }\n")
	if s.asked(t, request) {
		t.Error("the program is asked after a test or other code changes")
	}
}

// TestChangedRequest shows that every field of a request is part of a verdict's key.
func TestChangedRequest(t *testing.T) {
	s := newStandIn(t, accepts)
	if !s.asked(t, Request{}) || s.asked(t, Request{}) {
		t.Fatal("the program was not asked exactly once")
	}
	values := []any{
		Parse, "text", map[string]string{"NAME": "value"}, true, []string{"model"}, []Call{{Method: "GET"}}, 99,
	}
	kind := reflect.TypeFor[Request]()
	for i := range kind.NumField() {
		request := Request{}
		field := reflect.ValueOf(&request).Elem().Field(i)
		for _, value := range values {
			if reflect.TypeOf(value) == field.Type() {
				field.Set(reflect.ValueOf(value))
			}
		}
		if field.IsZero() {
			t.Fatalf("the test has no value for the field %s", kind.Field(i).Name)
		}
		if !s.asked(t, request) {
			t.Errorf("the program is not asked after the field %s changes", kind.Field(i).Name)
		}
		// The verdict of a server with a state is not kept.
		if s.asked(t, request) != (request.Home != "") {
			t.Errorf("after the field %s changes, the second verdict is not the kept one", kind.Field(i).Name)
		}
	}
}

// TestNotKept shows which verdicts are never kept, because they depend on more than their key.
func TestNotKept(t *testing.T) {
	for name, answer := range map[string]string{
		"exit": "exit 1", "time limit": `echo '{"ok": false, "phase": "start", "late": true}'`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t, answer)
			for range 2 {
				if !s.asked(t, Request{}) {
					t.Error("the verdict was kept")
				}
			}
		})
	}
}

// TestEndedProcess shows that Check returns a verdict when the process exits, and that the next call starts a new
// process.
func TestEndedProcess(t *testing.T) {
	s := newStandIn(t, accepts+"; exit")
	checker, err := newChecker("0.7.3", s.python, Support{}, s.inputs)
	if err != nil {
		t.Fatal(err)
	}
	defer checker.Close()
	for _, phase := range []string{"", ended, "", ended} {
		got, err := checker.Check(t.Context(), Request{})
		if err != nil || got.OK != (phase == "") || got.Phase != phase {
			t.Fatalf("got %v, %v, want the phase %q", got, err, phase)
		}
	}
}

// TestRestored shows that a verdict does not contain the paths and the port of its run.
func TestRestored(t *testing.T) {
	checker := &Checker{scratch: t.TempDir(), models: startModels()}
	defer checker.models.server.Close()
	filled, err := checker.fill(Request{
		Local: true, Config: "url: http://vllm.example:8000/v1", Env: map[string]string{"DIR": "/.llama/files", "TOKEN": "a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	port := checker.models.port
	if want := "url: http://127.0.0.1:" + port + "/v1"; filled.Config != want {
		t.Errorf("the configuration is %q, want %q", filled.Config, want)
	}
	message := strings.Join([]string{filled.Config, filled.Env["DIR"], filled.Home, "port=" + port}, " ")
	got := checker.restored(Verdict{Message: message}, filepath.Dir(filled.Home)).Message
	if want := "url: http://services.example/v1 /.llama/files /home port=PORT"; got != want {
		t.Errorf("the message is %q, want %q", got, want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
