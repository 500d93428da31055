package document_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
)

const positions = `# a comment
apiVersion: v1
kind: A
---
kind: B
metadata:
  name: b
  annotations:
    llamastack.io/compat: v1
spec:
  providers:
    inference:
      - {id: one, provider: vllm}
      - id: two
        endpoint: http://x
    vector_io: {provider: faiss}
  env:
    - name: FIRST
      value: a
  shared: &shared
    size: 1
  storage: *shared
  other:
    <<: *shared
    kind: c
  flow: {list: [1, {deep: x}]}
`

// The position of a path is the line and the column of its key. For a path that does not exist, it is the position of
// the closest existing parent field.
func TestPosition(t *testing.T) {
	documents, err := files.Read("-", strings.NewReader(positions))
	if err != nil || len(documents) != 2 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	doc := documents[1]
	for path, want := range map[string]document.Position{
		"":              {Line: 5, Column: 1},
		"kind":          {Line: 5, Column: 1},
		"metadata.name": {Line: 7, Column: 3},
		"metadata.annotations[llamastack.io/compat]": {Line: 9, Column: 5},
		"metadata.annotations.llamastack.io/compat":  {Line: 9, Column: 5},
		"spec.providers.inference[0].provider":       {Line: 13, Column: 19},
		"spec.providers.inference[1]":                {Line: 14, Column: 9},
		"spec.providers.inference[two].endpoint":     {Line: 15, Column: 9},
		"spec.providers.inference[7].endpoint":       {Line: 12, Column: 5},
		"spec.providers.vectorIo.provider":           {Line: 16, Column: 17},
		"spec.env[FIRST].value":                      {Line: 19, Column: 7},
		"spec.storage.size":                          {Line: 21, Column: 5},
		"spec.storage":                               {Line: 22, Column: 3},
		"spec.other.size":                            {Line: 21, Column: 5},
		"spec.other.missing":                         {Line: 23, Column: 3},
		"spec.flow.list[1].deep":                     {Line: 26, Column: 21},
		"spec.missing":                               {Line: 10, Column: 1},
		"status":                                     {Line: 5, Column: 1},
	} {
		if diff := cmp.Diff(want, doc.Position(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// The positions in list items, JSON values, and texts with Windows line endings refer to the lines of the whole file.
func TestPositionOfItems(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		item int
		path string
		want document.Position
	}{
		"list":           {"kind: List\nitems:\n- kind: A\n- kind: B\n  spec: {a: 1}\n", 1, "spec.a", document.Position{Line: 5, Column: 10}},
		"list in a list": {"kind: List\nitems:\n- kind: List\n  items:\n  - kind: B\n    spec: {a: 1}\n", 0, "spec.a", document.Position{Line: 6, Column: 12}},
		"JSON":           {"{\"kind\": \"A\"}\n\n{\"kind\": \"B\",\n \"spec\": {\"a\": 1}}\n", 1, "spec.a", document.Position{Line: 4, Column: 11}},
		"CRLF": {
			"kind: A\r\n---\r\nkind: B\r\nspec:\r\n  a: 1\r\n", 1, "spec.a",
			document.Position{Line: 5, Column: 3},
		},
		"separators": {"---\n---\nkind: A\n--- # two\n# Source: x/templates/y.yaml\nkind: B\nspec: {a: 1}\n", 2, "spec.a", document.Position{Line: 7, Column: 8}},
		"anchor that refers to itself": {
			"kind: A\nspec: &a {<<: *a, b: 1}\n", 0, "spec.a", document.Position{Line: 2, Column: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			documents, err := files.Read(file, nil)
			if err != nil || len(documents) <= tc.item {
				t.Fatalf("%d documents, %v", len(documents), err)
			}
			if diff := cmp.Diff(tc.want, documents[tc.item].Position(tc.path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The position of a problem is the line in the whole file, not in the document.
func TestProblemPosition(t *testing.T) {
	for text, want := range map[string]int{
		"kind: A\n---\nkind: B\nspec:\n  a: [\n":            5,
		"kind: A\n---\nkind: B\nspec:\n\ta: 1\n":            5,
		"kind: A\n---\nkind: B\nspec:\n  a: 1\n  a: 2\n":    6,
		"kind: A\n--- !tag\nkind: B\n":                      2,
		"kind: A\n---\nkind: B\n---\n- a\n":                 5,
		"# only a comment\n---\n\nkind: B\na: {{ .x }}\n":   4,
		"a: " + strings.Repeat("x", 17<<20) + "\nkind: A\n": 1,
	} {
		documents, err := files.Read("-", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		doc := documents[len(documents)-1]
		if doc.Problem == "" || doc.ProblemPosition().Line != want {
			t.Errorf("%.60q: line %d, want %d: %s", text, doc.ProblemPosition().Line, want, doc.Problem)
		}
	}
}

func TestOrigin(t *testing.T) {
	const helm = "---\n# Source: chart/templates/a.yaml\nkind: A\n---\n# Source: chart/templates/b.yaml\nkind: B\n---\nkind: C\n"
	documents, err := files.Read("-", strings.NewReader(helm))
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, document.Generated("kustomize deploy", []byte("kind: D\n"))...)
	var got []string
	for _, doc := range documents {
		got = append(got, fmt.Sprintf("%s: %s: %s", doc.File, doc.Meta.Kind, doc.Origin))
	}
	want := []string{
		"standard input: A: Helm template chart/templates/a.yaml", "standard input: B: Helm template chart/templates/b.yaml", "standard input: C: standard input",
		"kustomize deploy: D: kustomize deploy",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}

// Position terminates, and returns a line, for every text and every path.
func FuzzPosition(f *testing.F) {
	f.Add(positions, "spec.providers.inference[0].provider")
	f.Add("a: &a {<<: [*a, *a], b: *a}\n", "a.b.b[0].c[x")
	f.Add("[&a [*a]]", "[0][0][0]")
	f.Fuzz(func(t *testing.T, text, path string) {
		documents, err := files.Read("-", strings.NewReader(text))
		if err != nil {
			return // only documents have positions
		}
		for _, doc := range documents {
			if at := doc.Position(path); at.Line < 1 {
				t.Errorf("line %d, want at least 1", at.Line)
			}
			doc.ProblemPosition()
		}
	})
}
