package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	factsFolder     = "docs/development/server-facts"
	decisionsFolder = "docs/development/decisions"
	decisionsIndex  = decisionsFolder + "/README.md"
	// recordWords is the maximum number of words in a decision record.
	recordWords = 300
	// factWords is the maximum number of words in a fact, with its releases and its source.
	factWords = 110
	// fewestCitations is the minimum number of fact citations in the comments and strings of Go files. If the test finds
	// fewer, the scan is broken.
	fewestCitations = 30
)

var (
	factItem       = regexp.MustCompile(`^- \*\*(\d+)\*\* \(([^)]*)\): (.+) Source: (.+)$`)
	recordHeading  = regexp.MustCompile(`(?m)^## (.*)$`)
	releaseRange   = regexp.MustCompile(`^(?:all|up to (\S+)|(\S+) and newer|(\S+) to (\S+)|(\d\S*))$`)
	testSpan       = regexp.MustCompile(`^(?:(\S+): )?(Test[A-Za-z0-9_]+)$`)
	repositorySpan = regexp.MustCompile(`^(?:internal|test|hack|docs)/`)
	observation    = regexp.MustCompile(`^observed (?:on|from) \d`)
	recordName     = regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
)

// recordHeadings are the headings of a decision record, in order.
var recordHeadings = []string{"Context", "Decision", "Consequences", "When to revisit"}

// factProblems returns the problems on a page of facts, and the numbers of its facts. Each item of a list is a fact.
func factProblems(text string) (problems []string, facts []int) {
	for _, block := range blocks(text) {
		if !strings.HasPrefix(block, "- ") {
			continue
		}
		match := factItem.FindStringSubmatch(block)
		if match == nil {
			problems = append(problems, fmt.Sprintf("%q is not - **NUMBER** (RELEASES): TEXT Source: SOURCE", block))
			continue
		}
		number, _ := strconv.Atoi(match[1])
		facts = append(facts, number)
		if !isReleaseRange(match[2]) {
			problems = append(problems, fmt.Sprintf("fact %d: %q is not a range of offered release lines", number, match[2]))
		}
		if count := len(strings.Fields(block)); count > factWords {
			problems = append(problems, fmt.Sprintf("fact %d has %d words, at most %d", number, count, factWords))
		}
		for _, problem := range sourceProblems(match[4]) {
			problems = append(problems, fmt.Sprintf("fact %d: %s", number, problem))
		}
	}
	return problems, facts
}

func isReleaseRange(text string) bool {
	match := releaseRange.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	if match[3] != "" && release.Compare(match[3], match[4]) >= 0 {
		return false
	}
	return !slices.ContainsFunc(match[1:], func(line string) bool { return line != "" && !release.IsOffered(line) })
}

// sourceProblems returns the problems in the source of a fact. The parts of a source are separated by semicolons. Each
// part is an observation or contains code spans. A span names a test in a folder, a further test in the same folder, a
// file in this repository, or a file in the server's source code.
func sourceProblems(source string) []string {
	var problems []string
	for part := range strings.SplitSeq(source, ";") {
		part = strings.TrimSpace(part)
		spans := span.FindAllStringSubmatch(part, -1)
		if len(spans) == 0 && !observation.MatchString(part) {
			problems = append(problems, fmt.Sprintf("%q is neither a file, nor a test, nor an observation on a release", part))
		}
		folder := ""
		for _, match := range spans {
			switch test := testSpan.FindStringSubmatch(match[1]); {
			case test != nil:
				if test[1] != "" {
					folder = test[1]
				}
				if !hasTest(folder, test[2]) {
					problems = append(problems, fmt.Sprintf("%q has no test %s", folder, test[2]))
				}
			case repositorySpan.MatchString(match[1]):
				if _, err := os.Stat(filepath.Join(testutil.Root(), match[1])); err != nil {
					problems = append(problems, fmt.Sprintf("there is no %s", match[1]))
				}
			}
		}
	}
	return problems
}

// hasTest reports whether a folder in this repository contains the test with the given name.
func hasTest(folder, name string) bool {
	files, err := filepath.Glob(filepath.Join(testutil.Root(), folder, "*_test.go"))
	if err != nil || folder == "" {
		return false
	}
	return slices.ContainsFunc(files, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(")
	})
}

// recordProblems returns the problems in a decision record.
func recordProblems(name, text string) []string {
	match := recordName.FindStringSubmatch(name)
	if match == nil {
		return []string{"the file name does not have the form 0004-title.md"}
	}
	var problems []string
	number, _ := strconv.Atoi(match[1])
	if !strings.HasPrefix(text, fmt.Sprintf("# %d. ", number)) {
		problems = append(problems, fmt.Sprintf("the title does not have the number %d", number))
	}
	var headings []string
	for _, at := range recordHeading.FindAllStringSubmatch(text, -1) {
		headings = append(headings, at[1])
	}
	if !slices.Equal(headings, recordHeadings) {
		problems = append(problems, fmt.Sprintf("the headings are %q, not %q", headings, recordHeadings))
	}
	if words := len(strings.Fields(text)); words > recordWords {
		problems = append(problems, fmt.Sprintf("it has %d words, at most %d", words, recordWords))
	}
	return problems
}

// citable contains the facts and decision records that can be cited.
type citable struct {
	facts   []int    // numbers
	records []string // file names
}

var (
	// citationList matches the only valid form of a citation.
	citationList = regexp.MustCompile(`\((?:server fact \d+|decision \d{4})(?:, (?:server fact \d+|decision \d{4}))*\)`)
	citationItem = regexp.MustCompile(`(server fact|decision) (\d+)`)
	// looseCitation matches text that looks like a citation.
	looseCitation = regexp.MustCompile(`(?i)\bserver[- ]facts? +(?:no\.? *)?#?\d+|\bdecisions? +(?:no\.? *)?#?\d+`)
	recordFile    = regexp.MustCompile(`\b(\d{4}-[a-z0-9-]+\.md)\b`)
)

// citationProblems returns the problems with the citations in a text without line breaks, and the number of facts that
// it cites.
func (c citable) citationProblems(text string) (problems []string, facts int) {
	for _, list := range citationList.FindAllString(text, -1) {
		for _, item := range citationItem.FindAllStringSubmatch(list, -1) {
			if item[1] == "server fact" {
				facts++
				if number, err := strconv.Atoi(item[2]); err != nil || !slices.Contains(c.facts, number) || item[2][0] == '0' {
					problems = append(problems, fmt.Sprintf("there is no %s", item[0]))
				}
				continue
			}
			if !slices.ContainsFunc(c.records, func(name string) bool { return strings.HasPrefix(name, item[2]+"-") }) {
				problems = append(problems, fmt.Sprintf("there is no %s", item[0]))
			}
		}
	}
	for _, loose := range looseCitation.FindAllString(citationList.ReplaceAllString(text, ""), -1) {
		problems = append(problems, fmt.Sprintf("%q is not in the form (server fact 14) or (decision 0004)", loose))
	}
	for _, match := range recordFile.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(c.records, match[1]) {
			problems = append(problems, fmt.Sprintf("there is no decision record %s", match[1]))
		}
	}
	return problems, facts
}

// records returns the decision records, keyed by name.
func records(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, p := range pages(t) {
		if filepath.Dir(p.path) == decisionsFolder && p.path != decisionsIndex {
			found[filepath.Base(p.path)] = p.text
		}
	}
	return found
}

// allFacts returns the numbers of the facts on all pages, in order, and the problems on these pages.
func allFacts(t *testing.T) (facts []int, problems []string) {
	t.Helper()
	for _, p := range below(t, factsFolder) {
		if filepath.Base(p.path) == "README.md" {
			continue
		}
		found, numbers := factProblems(p.text)
		facts = append(facts, numbers...)
		for _, problem := range found {
			problems = append(problems, p.path+": "+problem)
		}
	}
	slices.Sort(facts)
	return facts, problems
}

// Each fact states its releases and its source and has a short text. The pages together have each number once.
func TestServerFacts(t *testing.T) {
	facts, problems := allFacts(t)
	for _, problem := range problems {
		t.Error(problem)
	}
	for i, number := range facts {
		if number != i+1 {
			t.Fatalf("the facts are not numbered from 1 to %d, each number once: %v", len(facts), facts)
		}
	}
	if len(facts) < 50 {
		t.Errorf("found %d facts", len(facts))
	}
}

// Decision records have the number of their file and the required headings, are short, and are in the index.
func TestDecisionRecords(t *testing.T) {
	index := readPage(t, decisionsIndex).text
	found := records(t)
	for name, text := range found {
		for _, problem := range recordProblems(name, text) {
			t.Errorf("%s/%s: %s", decisionsFolder, name, problem)
		}
		if !strings.Contains(index, "]("+name+")") {
			t.Errorf("%s does not contain %s", decisionsIndex, name)
		}
	}
	if len(found) < 10 {
		t.Errorf("found %d records", len(found))
	}
}

// Every fact and every decision record that is cited by a comment, a message or a page exists.
func TestCitations(t *testing.T) {
	facts, _ := allFacts(t)
	known := citable{facts: facts}
	for name := range records(t) {
		known.records = append(known.records, name)
	}
	inComments := 0
	for _, text := range citingTexts(t) {
		problems, found := known.citationProblems(text.text)
		for _, problem := range problems {
			t.Errorf("%s: %s", text.path, problem)
		}
		if strings.HasSuffix(text.path, ".go") {
			inComments += found
		}
	}
	if inComments < fewestCitations {
		t.Errorf("Go files cite facts %d times, want at least %d", inComments, fewestCitations)
	}
}

// citingTexts returns the comments and strings in Go files, and the whole text of other files, without line breaks.
func citingTexts(t *testing.T) []page {
	t.Helper()
	var texts []page
	for _, folder := range []string{"api", "charts", "cmd", "config", "docs", "hack", "internal", "test"} {
		err := filepath.WalkDir(filepath.Join(testutil.Root(), folder),
			func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					if err == nil && strings.HasPrefix(entry.Name(), ".") {
						return filepath.SkipDir
					}
					return err
				}
				relative, err := filepath.Rel(testutil.Root(), path)
				if err != nil {
					return err
				}
				switch filepath.Ext(path) {
				case ".go":
					found, err := goTexts(path)
					for _, text := range found {
						texts = append(texts, page{relative, text})
					}
					return err
				case ".md", ".py", ".sh", ".yaml", ".tpl":
					data, err := os.ReadFile(path)
					texts = append(texts, page{relative, oneLine(string(data))})
					return err
				}
				return nil
			})
		testutil.Must(t, err)
	}
	for _, path := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		texts = append(texts, page{path, oneLine(readPage(t, path).text)})
	}
	return texts
}

// goTexts returns the comments and the strings in a Go file. It omits the strings in citation_test.go, because they
// contain invalid citations.
func goTexts(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil || !looksCiting.Match(data) {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, group := range file.Comments {
		texts = append(texts, oneLine(group.Text()))
	}
	if filepath.Base(path) == "citation_test.go" {
		return texts, nil
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, oneLine(text))
			}
		}
		return true
	})
	return texts, nil
}

// looksCiting matches words that occur in citations. Every citation contains one of these words, so files without a
// match are not parsed.
var looksCiting = regexp.MustCompile(`(?i)\bfacts?\b|\bdecisions?\b|\d{4}-[a-z0-9-]+\.md`)

// lineStart matches a line break and the comment marker at the start of the next line.
var lineStart = regexp.MustCompile(`\n[ \t]*(?:#+|//)?[ \t]*`)

func oneLine(text string) string { return lineStart.ReplaceAllString(text, " ") }

// The checks detect invalid citations.
func TestCitationChecksFail(t *testing.T) {
	known := citable{facts: []int{1, 2, 3}, records: []string{"0001-first.md", "0002-second.md"}}
	for text, want := range map[string]string{
		"(server fact 1)":                          "",
		"(decision 0001, server fact 2)":           "",
		"docs/development/decisions/0001-first.md": "",
		"a decision after 5 minutes":               "",
		"(server fact 4)":                          "there is no server fact 4",
		"(server fact 01)":                         "there is no server fact 01",
		"(decision 0003)":                          "there is no decision 0003",
		"see server fact 1":                        `"server fact 1" is not in the form`,
		"(server facts 1 and 2)":                   `"server facts 1" is not in the form`,
		"(decision 2)":                             `"decision 2" is not in the form`,
		"decisions/0001-another-title.md":          "there is no decision record 0001-another-title.md",
		oneLine("a\n// (server\n//   fact 9) b"):   "there is no server fact 9",
	} {
		problems, _ := known.citationProblems(text)
		if got := strings.Join(problems, "\n"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: problems %q, want %q", text, problems, want)
		}
	}
}
