package corpus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

// supplied is the prefix of the cases that are not rejected, because the engine adds the missing parts.
const supplied = "supplied/"

// The operator's checks reject the values that the release data does not allow for a key. This test tries some of these
// values for each release line. The test with the real server tries more.
func TestSweep(t *testing.T) {
	const each = 23
	for _, line := range release.Offered() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		all := corpus.Sweep(match.Release)
		if len(all) < 1000 {
			t.Errorf("%s: only %d values", line, len(all))
		}
		for i := 0; i < len(all); i += each {
			if lines, refusal, err := all[i].Told(); err != nil || !refusal {
				t.Errorf("%s: %s is not rejected: %v %v", line, all[i].Name, lines, err)
			}
		}
	}
}

// checkTold returns a problem in the lines that a user reads, or "".
func checkTold(n *corpus.Negative, lines []string, refusal bool) string {
	text := strings.Join(lines, "\n")
	switch {
	case strings.Contains(text, corpus.Canary):
		return "a message contains the value of a Secret: " + text
	case strings.HasPrefix(n.Name, supplied):
		if refusal {
			return "the stack is rejected: " + text
		}
	case text == "":
		return "there is no message"
	case n.Why == "" && n.Answer == corpus.Refused != refusal:
		return fmt.Sprintf("the server %s it, and the operator rejects it: %t: %s", n.Answer, refusal, text)
	case n.Why == "" && n.Answer != corpus.Refused && n.Answer != corpus.Ignored:
		return fmt.Sprintf("the server %s it, and the case has no reason for the message", n.Answer)
	}
	return ""
}

// TestNegatives checks, without a server, that every mistake is reported as its case states, that the corresponding
// correct object is accepted, and that no message contains the value of a Secret. It also compares golden files with
// the lines that a user reads for every mistake. In the files, releases with the same text form one group. The folder
// server/ contains the mistakes that the data of a release defines. The folder own/ contains the mistakes that only the
// operator rejects, with the reason.
func TestNegatives(t *testing.T) {
	files := map[string]*telling{}
	for _, line := range release.Offered() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, n := range corpus.Negatives(match.Release) {
			if names[n.Name] {
				t.Errorf("two cases of %s have the name %s", line, n.Name)
			}
			names[n.Name] = true
			lines, refusal, err := n.Told()
			if err != nil {
				t.Fatal(err)
			}
			if problem := checkTold(&n, lines, refusal); problem != "" {
				t.Errorf("%s: %s: %s", line, n.Name, problem)
			}
			if n.Answer != corpus.Unasked {
				if _, err := n.Question(); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			topic, _, _ := strings.Cut(n.Name, "/")
			file := "server/" + topic + ".txt"
			if n.Why != "" {
				file = "own/" + topic + ".txt"
			}
			if files[file] == nil {
				files[file] = &telling{texts: map[string][]string{}}
			}
			files[file].add(&n, lines, refusal)
		}
	}
	got := map[string][]byte{}
	for name, file := range files {
		got[name] = file.bytes()
	}
	golden.Dir(t, "testdata/negative", got)
}

// telling contains the texts of the cases about one topic.
type telling struct {
	// heads lists the cases in the order of their first appearance, and texts contains the releases for each text of a
	// case.
	heads []string
	texts map[string][]string
	order map[string][]string
}

func (f *telling) add(n *corpus.Negative, lines []string, refusal bool) {
	head := fmt.Sprintf("%s: the server %s it", n.Name, n.Answer)
	switch {
	case strings.HasPrefix(n.Name, supplied):
		head += ", so the engine adds the missing part"
	case n.Why != "":
		head += map[bool]string{true: ", the operator rejects it: ", false: ", the operator warns: "}[refusal] + n.Why
	case !refusal:
		head += ", the operator warns"
	}
	if !slices.Contains(f.heads, head) {
		f.heads = append(f.heads, head)
	}
	if f.order == nil {
		f.order = map[string][]string{}
	}
	text := "\t" + strings.ReplaceAll(strings.Join(lines, "\n\t"), "release "+n.Release.Line, "release <line>") + "\n"
	if len(lines) == 0 {
		text = "\t(no message)\n"
	}
	key := head + "\x00" + text
	if _, known := f.texts[key]; !known {
		f.order[head] = append(f.order[head], text)
	}
	f.texts[key] = append(f.texts[key], n.Release.Line)
}

func (f *telling) bytes() []byte {
	var b strings.Builder
	for _, head := range f.heads {
		b.WriteString(head + "\n")
		for _, text := range f.order[head] {
			b.WriteString("  " + strings.Join(f.texts[head+"\x00"+text], " ") + "\n" + text)
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}
