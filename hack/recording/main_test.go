package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	if err != nil {
		t.Fatal(err)
	}
	commands, err := os.ReadFile("validate.txt")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	kubectl := fmt.Sprintf("#!/bin/sh\nshift\n%s=1 exec %s \"$@\"\n", asPlugin, program)
	if err := os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := play(string(commands), folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH")))
	if err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(testutil.Root(), "docs/assets/validate.svg")
	if golden.Updating() {
		if err := os.WriteFile(picture, draw(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(golden.Read(t, picture)), string(draw(text))); diff != "" {
		t.Errorf("the recording is not up to date (-recorded +now):\n%s", diff)
	}
}

func TestSteps(t *testing.T) {
	found := steps("a\n$ make\nb\nc\n$ x\n$ y\n")
	got := make([]string, 0, len(found))
	for _, each := range found {
		got = append(got, fmt.Sprintf("%d %.2f %s", each.first, each.pause, strings.Join(each.rows, ",")))
	}
	want := []string{"0 0.22 a", "1 0.80 $ make", "2 0.44 b,c", "4 0.80 $ x", "5 0.80 $ y"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A picture is XML, whatever a command prints. It shows the rest of a long line in the next row.
func TestDraw(t *testing.T) {
	drawn := string(draw("$ a <b> & \"c\"\n" + strings.Repeat("é", columns+1) + "\n"))
	decoder := xml.NewDecoder(strings.NewReader(drawn))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(drawn, ">"+strings.Repeat("é", columns)+"<") || !strings.Contains(drawn, ">é<") {
		t.Error("the long line is not wrapped")
	}
}
