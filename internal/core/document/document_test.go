package document_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
)

// The title of a document contains its position. Unreadable text becomes a document with a problem.
func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"documents": {"kind: A\n---\n# only a comment\n---\nkind: B\n", []string{"standard input: document 1: A", "standard input: document 2: ", "standard input: document 3: B"}},
		"JSON":      {`{"kind": "A"} {"kind": "B"}`, []string{"standard input: document 1: A", "standard input: document 2: B"}},
		"lists": {
			"kind: A\n---\nkind: List\nitems: [{kind: B}, {kind: CList, items: [{metadata: {}}]}]\n",
			[]string{"standard input: document 1: A", "standard input: document 2, items[0]: B", "standard input: document 2, items[1], items[0]: C"},
		},
		"invalid YAML":  {"kind: A\n---\n\ta: b\n", []string{"standard input: document 1: A", "standard input: document 2: is not valid YAML: line 3 is indented with a tab; use spaces"}},
		"not an object": {"- a\n", []string{"standard input: document 1: is not a Kubernetes object: a manifest must be an object in which apiVersion and kind are strings"}},
		"valid tab": {
			"kind: A\nkind: A\ndata: |\n  a\n  \tb\n",
			[]string{"standard input: document 1: A" + `is not valid YAML: line 2: key "kind" already set in map; remove one of the two keys`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			documents, err := files.Read("-", strings.NewReader(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, doc := range documents {
				problem, _, _ := strings.Cut(doc.Problem, " (")
				got = append(got, doc.Title()+": "+doc.Meta.Kind+problem)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

// Read reads the manifests in a folder, in the order of their names, and marks them as listed.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b.yaml", "a.json", "c.txt", "d.yml"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(`{"kind": "A"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	documents, err := files.Read(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, doc := range documents {
		if !doc.Listed {
			t.Errorf("%s is not marked as listed", doc.File)
		}
		got = append(got, filepath.Base(doc.File))
	}
	if diff := cmp.Diff([]string{"a.json", "b.yaml", "d.yml"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := files.Read(filepath.Join(folder, "none"), nil); err == nil {
		t.Error("no error for a file that does not exist")
	}
}
