package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// asPlugin is the variable that makes the test binary run as kubectl llamastack.
const asPlugin = "RECORDING_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(cli.Run(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "test", os.Args[1:]))
	}
	os.Exit(m.Run())
}

// The recording in the quickstart shows what the commands print. To write it again, run this test with -update.
func TestRecordingIsTrue(t *testing.T) {
	program, err := os.Executable()
	testutil.Must(t, err)
	commands, err := os.ReadFile("validate.txt")
	testutil.Must(t, err)
	folder := t.TempDir()
	kubectl := fmt.Sprintf("#!/bin/sh\nshift\n%s=1 exec %s \"$@\"\n", asPlugin, program)
	testutil.Must(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o755))
	text, err := play(string(commands), folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH")))
	testutil.Must(t, err)
	picture := filepath.Join(testutil.Root(), "docs/assets/validate.svg")
	if golden.Updating() {
		testutil.Must(t, os.WriteFile(picture, draw(text), 0o644))
	}
	if diff := cmp.Diff(string(golden.Read(t, picture)), string(draw(text))); diff != "" {
		t.Errorf("the recording is not up to date (-recorded +now):\n%s", diff)
	}
}
