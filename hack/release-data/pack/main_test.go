package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const root = "../../../"

// TestPacked compares the embedded files with the files from which they are made.
func TestPacked(t *testing.T) {
	made := generatedFiles(t)
	reader, err := zip.OpenReader(root + archiveFile)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	packed := map[string][]byte{}
	for _, file := range reader.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if packed[file.Name], err = io.ReadAll(content); err != nil {
			t.Fatal(err)
		}
	}
	releases, err := os.ReadFile(root + releasesFile)
	if err != nil {
		t.Fatal(err)
	}
	const remedy = "run `make generate-release-data`"
	if !maps.EqualFunc(made.archive, packed, bytes.Equal) {
		t.Errorf("%s is not made from these files; %s", archiveFile, remedy)
	}
	if diff := cmp.Diff(string(made.releases), string(releases)); diff != "" {
		t.Errorf("%s; %s (-made +file):\n%s", releasesFile, remedy, diff)
	}
}

func generatedFiles(t *testing.T) *generated {
	t.Helper()
	made, err := generate(os.DirFS(root + directory))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestLinesAreComplete merges the lines of releases.json as the program does, and compares the result for each release
// line with the release data.
func TestLinesAreComplete(t *testing.T) {
	var lines map[string]map[string]json.RawMessage
	if err := json.Unmarshal(generatedFiles(t).releases, &lines); err != nil {
		t.Fatal(err)
	}
	together := map[string]json.RawMessage{}
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(together, lines[line])
		if match.Release.Registry.KeyPrefix == "" {
			if len(together) > 0 {
				t.Errorf("the program does not support the registry of line %s", line)
			}
			continue
		}
		want, err := fields(factsOf(match.Release))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, together); diff != "" {
			t.Errorf("line %s (-data +file):\n%s", line, diff)
		}
	}
}
