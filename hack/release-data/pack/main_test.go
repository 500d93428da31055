package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const root = "../../../"

// TestPacked compares the embedded files with the files from which they are made.
func TestPacked(t *testing.T) {
	made := generatedFiles(t)
	want, err := compressed(made.archive)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(root + archiveFile)
	if err != nil {
		t.Fatal(err)
	}
	releases, err := os.ReadFile(root + releasesFile)
	if err != nil {
		t.Fatal(err)
	}
	const remedy = "run `make generate-release-data`"
	if !bytes.Equal(want, archive) {
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

func TestWholeConfig(t *testing.T) {
	fields := func(pairs ...string) provider.Fields {
		var out provider.Fields
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, provider.Field{Key: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	doc := &document{Shipped: map[string]*shipped{
		"main":    {Config: fields("a", "1", "b", "2", "c", "3")},
		"variant": {Like: "main", Config: fields("b", "4")},
	}}
	for name, tc := range map[string]struct {
		row  shipped
		want provider.Fields
		err  string
	}{
		"whole":     {*doc.Shipped["main"], fields("a", "1", "b", "2", "c", "3"), ""},
		"a variant": {*doc.Shipped["variant"], fields("a", "1", "b", "4", "c", "3"), ""},
		"a variant of a variant": {
			shipped{Like: "variant"}, nil, `it is like "variant", which has no config with all sections`,
		},
		"a variant of nothing": {shipped{Like: "x"}, nil, `it is like "x", which has no config with all sections`},
		"another section": {
			shipped{Like: "main", Config: fields("d", "5")}, nil, `"main", which it is like, has no section "d"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := doc.wholeConfig(&tc.row)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
	if diff := cmp.Diff(fields("a", "1", "b", "2", "c", "3"), doc.Shipped["main"].Config); diff != "" {
		t.Errorf("the main config changed (-want +got):\n%s", diff)
	}
}
