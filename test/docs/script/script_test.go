package script

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fences replaces ~ with a backquote, because a raw string cannot contain the backquotes of a fence.
func fences(text string) string { return strings.ReplaceAll(text, "~", "`") }

const wholePage = `# Title

<!-- docs-test: stand-ins vllm ollama mine:9000=llama,qwen -->
<!-- docs-test: repository -->
<!-- docs-test: setup
kubectl create secret generic a --from-literal=b=c
$ export X=1
-->

~~~yaml title="stack.yaml"
kind: A
~~~

<!-- docs-test: node -->
~~~console
$ kubectl get a \
    --output=wide
NAME   AGE
a      …
$ false # exit code 1
$ cat <<EOF
line
EOF
line

$ echo
~~~

1. In a list:

   <!-- docs-test: skip: Kind needs Docker. -->
   ~~~console
   $ kind create cluster
   ~~~

<!--
~~~console
$ not a block
~~~
-->

<!-- docs-test: invalid -->

~~~yaml
kind: B
~~~
`

func TestParse(t *testing.T) {
	want := &Page{
		Blocks: []Block{
			{
				Line: 5, Language: "console", Hidden: true,
				Commands: []Command{{Line: 6, Text: "kubectl create secret generic a --from-literal=b=c\nexport X=1"}},
			},
			{Line: 10, Language: "yaml", Title: "stack.yaml", Text: "kind: A\n"},
			{
				Line: 15, Language: "console", Where: Node, Commands: []Command{
					{Line: 16, Text: "kubectl get a \\\n    --output=wide", Output: []string{"NAME   AGE", "a      …"}},
					{Line: 20, Text: "false", Exit: 1},
					{Line: 21, Text: "cat <<EOF\nline\nEOF", Output: []string{"line"}},
					{Line: 26, Text: "echo"},
				},
			},
			{
				Line: 32, Language: "console", Where: Nowhere, Reason: "Kind needs Docker.",
				Commands: []Command{{Line: 33, Text: "kind create cluster"}},
			},
			{Line: 44, Language: "yaml", Text: "kind: B\n", Invalid: true},
		},
		StandIns: []StandIn{
			{Name: "vllm", Port: "8000"},
			{Name: "ollama", Port: "11434"},
			{Name: "mine", Port: "9000", Models: []string{"llama", "qwen"}},
		},
		Repository: true,
	}
	got := Parse(fences(wholePage))
	for i := range got.Blocks {
		if got.Blocks[i].Language == Console {
			got.Blocks[i].Text = "" // the field Commands contains the text
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Command{})); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	if got.Count(Node) != 4 || got.Count(Gate) != 0 || got.Count(Nowhere) != 1 {
		t.Errorf("%d, %d and %d commands", got.Count(Gate), got.Count(Node), got.Count(Nowhere))
	}
}

// A page can select the real server for its stacks, and a block can contain a command that readers end.
func TestServerAndCtrlC(t *testing.T) {
	got := Parse(fences("<!-- docs-test: real-server -->\n<!-- docs-test: servers a b -->\n\n<!-- docs-test: Ctrl-C -->\n~~~console\n$ a\n~~~\n\n" +
		"<!-- docs-test: node Ctrl-C -->\n~~~console\n$ b\n~~~\n\n~~~console\n$ c\n~~~\n"))
	if len(got.Problems) > 0 || !got.RealServer || len(got.Servers) != 2 || len(got.Blocks) != 3 {
		t.Fatalf("real server %t, %d blocks, problems %v", got.RealServer, len(got.Blocks), got.Problems)
	}
	for i, want := range []Block{{Where: Gate, Interrupted: true}, {Where: Node, Interrupted: true}, {Where: Gate}} {
		if block := got.Blocks[i]; block.Where != want.Where || block.Interrupted != want.Interrupted {
			t.Errorf("block %d: where %v, interrupted %t", i, block.Where, block.Interrupted)
		}
	}
}

// A command continues on the next line while a quoted string is open.
func TestOpenQuotes(t *testing.T) {
	got := Parse(fences("~~~console\n$ curl --json '{\n  \"a\": \"it\\\"s\"\n}' URL\nout\n$ echo \"it's \\\"one\\\"\n$ line\"\n$ echo \\'\n~~~\n"))
	want := []Command{
		{Line: 2, Text: "curl --json '{\n  \"a\": \"it\\\"s\"\n}' URL", Output: []string{"out"}},
		{Line: 6, Text: "echo \"it's \\\"one\\\"\n$ line\""},
		{Line: 8, Text: "echo \\'"},
	}
	diff := cmp.Diff(want, got.Blocks[0].Commands, cmpopts.IgnoreUnexported(Command{}))
	if diff != "" || len(got.Problems) > 0 {
		t.Errorf("problems %v, commands (-want +got):\n%s", got.Problems, diff)
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"~~~console\nkubectl get pods\n~~~":                             `2: the line "kubectl get pods" is neither a command`,
		"~~~console\n~~~":                                               "1: the block has no command",
		"~~~yaml\na: b\n":                                               "1: the block has no end; add the closing fence",
		"<!-- docs-test: nodes -->\n~~~text\n~~~":                       `1: the comment "nodes" is unknown`,
		"<!-- docs-test: skip: no docker -->\n~~~text\n~~~":             `1: the reason "no docker" is not a complete sentence`,
		"<!-- docs-test: node -->\nText.\n":                             "1: the comment is not on the line before a block",
		"<!-- docs-test: node -->":                                      "1: the comment is not on the line before a block",
		"<!-- docs-test: setup\ntrue\n":                                 `1: the comment has no end`,
		"<!-- docs-test: stand-ins Vllm -->":                            `1: "Vllm" is not a stand-in`,
		"<!-- docs-test: stand-ins other -->":                           `1: the stand-in "other" has no default port`,
		"~~~yaml title=\"../a\"\n~~~":                                   `1: the title "../a" is not a path`,
		"~~~console\n$ cat <<EOF\nx\n~~~":                               `2: the here-document has no end; add "EOF"`,
		"<!-- docs-test: setup somewhere\ntrue\n-->\n":                  `1: "setup somewhere" is not the start of a hidden block`,
		"~~~yaml title=\"a/b.yaml\"\n~~~\n<!-- a comment\n\n~~~\n-->\n": "",
	} {
		problems := Parse(fences(text)).Problems
		var got string
		if len(problems) > 0 {
			got = fmt.Sprintf("%d: %s", problems[0].Line, problems[0].Text)
		}
		if len(problems) > 1 || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %v, want %q", text, problems, want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		shown, output string
		want          bool
	}{
		{"a", "a\n", true},
		{"a  ", "a\n\n", true},
		{"a", "b\n", false},
		{"a", "a\nb\n", false},
		{"a\nb", "a\n", false},
		{"NAME   AGE\nmy-stack   …", "NAME       AGE\nmy-stack   12s\n", true},
		{"  a", "a\n", false},
		{"…", "", true},
		{"…", "a\nb\n", true},
		{"a\n…\nc", "a\nc\n", true},
		{"a\n…\nc", "a\nb\nb\nc\n", true},
		{"a\n…\nc", "a\nb\n", false},
		{"pod/… created", "pod/abc created\n", true},
		{"pod/… created", "pod/abc deleted\n", false},
		{"a…a", "a\n", false},
		{"x … y … z", "x 1 y 2 z\n", true},
		{"x …", "x\n", false},
		{"…\nlast", "first\nlast\nlast\n", true},
	} {
		if got := Matches(strings.Split(test.shown, "\n"), test.output); got != test.want {
			t.Errorf("%q and %q: %t", test.shown, test.output, got)
		}
	}
}
