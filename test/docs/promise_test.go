package docs

import (
	"regexp"
	"strings"
	"testing"
)

// promising lists the pages that promise what the operator prevents. Next to each promise, in the source of the page,
// stands the test that shows it: <!-- tested: internal/core/redact.TestText -->. A part that only sounds like a promise
// has <!-- no promise: the reason --> instead.
var promising = []string{
	"docs/explanation/threat-model.md", "docs/explanation/security.md", "docs/explanation/network.md",
}

var (
	// promise matches the words of a promise.
	promise = regexp.MustCompile(`(?i)\b(never|only|cannot|does not|do not|at most|refused?|refuses|rejects?|always|` +
		`unique|keeps|limits?|discards|ignores|without a|no (one|text|other)|bounds|must present|exactly)\b|^\|.*[0-9]`)
	tested    = regexp.MustCompile(`<!-- tested: (.*?) -->`)
	noPromise = regexp.MustCompile(`<!-- no promise: .+? -->`)
	testName  = regexp.MustCompile(`^((?:[\w-]+/)*[\w-]+)\.(Test\w+|Fuzz\w+)$`)
)

// blocks returns the paragraphs, items of lists and rows of tables of a page, without code and headings.
func blocks(text string) []string {
	var found []string
	fresh := true
	for line := range strings.SplitSeq(fence.ReplaceAllString(text, ""), "\n") {
		trimmed := strings.TrimSpace(line)
		starts := strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "|")
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|---"):
			fresh = true
		case fresh || starts:
			found, fresh = append(found, trimmed), false
		default:
			found[len(found)-1] += " " + trimmed
		}
	}
	return found
}

// promiseProblems returns the promises in a text that name no test.
func promiseProblems(text string, exists func(folder, test string) bool) []string {
	var problems []string
	for _, block := range blocks(text) {
		names := tested.FindStringSubmatch(block)
		words := htmlComment.ReplaceAllString(block, "")
		switch {
		case names == nil && promise.MatchString(words) && !noPromise.MatchString(block):
			problems = append(problems, "no test is named beside: "+words)
		case names != nil:
			for name := range strings.SplitSeq(names[1], ", ") {
				parts := testName.FindStringSubmatch(name)
				if parts == nil || !exists(parts[1], parts[2]) {
					problems = append(problems, "there is no test "+name)
				}
			}
		}
	}
	return problems
}

func TestPromisesHaveTests(t *testing.T) {
	for _, path := range promising {
		for _, problem := range promiseProblems(readPage(t, path).text, hasTest) {
			t.Errorf("%s: %s", path, problem)
		}
	}
}

func TestPromiseProblems(t *testing.T) {
	exists := func(folder, test string) bool { return folder+"."+test == "internal/a.TestA" }
	for text, want := range map[string]int{
		"It never fails.": 1,
		"It works.":       0,
		"It never\nfails. <!-- tested: internal/a.TestA -->":              0,
		"It never fails. <!-- tested: internal/a.TestA, b.TestB -->":      1,
		"It never fails. <!-- tested: by hand -->":                        1,
		"It never fails. <!-- no promise: a joke -->":                     0,
		"It never fails.\n\nIt works. <!-- tested: internal/a.TestA -->":  1,
		"- It works.\n- It never fails.":                                  1,
		"| it never fails | x |\n|---|---|\n| it works | x |":             1,
		"```console\n$ it never fails\n```\n":                             0,
		"It works, and is true anyway. <!-- tested: internal/a.TestB -->": 1,
	} {
		if got := promiseProblems(text, exists); len(got) != want {
			t.Errorf("%q: %d problems, want %d: %q", text, len(got), want, got)
		}
	}
}
