package layout_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
)

func TestWrap(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		width int
		want  []string
	}{
		"no terminal": {"one two three", 0, []string{"one two three"}},
		"short text":  {"one two", 7, []string{"one two"}},
		"at spaces":   {"one two three", 8, []string{"one two", "three"}},
		"a word that is too long": {
			"see https://example.com/a/long/path now", 10,
			[]string{"see", "https://example.com/a/long/path", "now"},
		},
		"line breaks":         {"one\ntwo", 10, []string{"one", "two"}},
		"width in characters": {"ää ää ää", 5, []string{"ää ää", "ää"}},
		"indented":            {"  one two three", 8, []string{"  one", "  two", "  three"}},
		"empty":               {"", 5, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, layout.Wrap(tc.text, tc.width)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	table := layout.Table{
		Header: []string{"NAME", "URL", "MESSAGE"},
		Rows: [][]string{
			{"a", "http://a.example.com", "The first sentence of a row is long enough to be wrapped in every terminal"},
			{"bbb", "", "short\nof two lines"},
		},
		Drop: []string{"URL"}, WrapLast: true,
	}
	for name, tc := range map[string]struct {
		width int
		want  string
	}{
		"no terminal": {0, `
NAME  URL                   MESSAGE
a     http://a.example.com  The first sentence of a row is long enough to be wrapped in every terminal
bbb                         short of two lines
`},
		"wide": {80, `
NAME  URL                   MESSAGE
a     http://a.example.com  The first sentence of a row is long enough to be
                            wrapped in every terminal
bbb                         short of two lines
`},
		"without a column": {60, `
NAME  MESSAGE
a     The first sentence of a row is long enough to be
      wrapped in every terminal
bbb   short of two lines
`},
		"columns on separate lines": {42, `
NAME
a
  The first sentence of a row is long
  enough to be wrapped in every terminal
bbb
  short of two lines
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), table.String(tc.width)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTree(t *testing.T) {
	root := layout.Node{Text: "root"}
	child := layout.Node{Text: "a child with a text that is too long for one line of forty characters"}
	child.Add("grandchild")
	root.Children = append(root.Children, child)
	root.Add("last child, also with a text that is too long")
	const want = `root
├─ a child with a text that is too
│  │  long for one line of forty
│  │  characters
│  └─ grandchild
└─ last child, also with a text that
      is too long
`
	got := root.String(40)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for line := range strings.Lines(got) {
		if length := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); length > 40 {
			t.Errorf("%d characters: %s", length, line)
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for want, at := range map[string]time.Time{
		"-": {}, "5m": now.Add(-5 * time.Minute), "0s": now.Add(time.Second), "3d": now.Add(-72 * time.Hour),
	} {
		if got := layout.Age(at, now); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
