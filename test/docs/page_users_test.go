package docs

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

const (
	quickstartPage = "docs/quickstart.md"
	// mostWords is the maximum number of words on a page.
	mostWords = 1200
	// mostReferenceWords is the maximum number of words on a page of the reference that is written by hand.
	mostReferenceWords = 1500
	// mostCellWords is the maximum number of words in a table cell.
	mostCellWords = 40
)

// userFolders lists the folders with the pages for users, in addition to the quickstart. The tests run the commands on
// these pages, and limit their length.
var userFolders = []string{"docs/how-to", "docs/troubleshooting", "docs/explanation"}

// notForUsers lists the folders in docs with pages whose commands the tests do not run.
var notForUsers = []string{"docs/development", "docs/reference"}

// isStrict reports whether the rules for pages for users apply to a page.
func isStrict(path string) bool {
	return path == quickstartPage || slices.ContainsFunc(userFolders, func(folder string) bool {
		return strings.HasPrefix(path, folder+"/")
	})
}

// below returns the pages in a folder and in its subfolders.
func below(t *testing.T, folder string) []page {
	t.Helper()
	var found []page
	err := filepath.WalkDir(filepath.Join(testutil.Root(), folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		relative, err := filepath.Rel(testutil.Root(), path)
		if err == nil {
			found = append(found, readPage(t, relative))
		}
		return err
	})
	testutil.Must(t, err)
	return found
}

// scripts returns the pages whose commands the tests run.
func scripts(t *testing.T) []page {
	t.Helper()
	return slices.DeleteFunc(append(below(t, "docs"), readPage(t, "README.md")), func(p page) bool {
		return slices.ContainsFunc(notForUsers, func(folder string) bool {
			return strings.HasPrefix(p.path, folder+"/")
		})
	})
}

// commandLine matches an indented line that is a command.
var commandLine = regexp.MustCompile(`^ {4}(?:\$ )?(?:kubectl|make|helm|docker|podman|curl|go|git|oc|kind|bin/\S+)\b`)

// strictProblems returns the problems with the format of a page for users.
func strictProblems(text string) []string {
	var problems []string
	parsed := script.Parse(text)
	for _, block := range parsed.Blocks {
		if !slices.Contains(script.Languages, block.Language) {
			problems = append(problems, fmt.Sprintf("line %d: the language of the block is %q; use %s", block.Line, block.Language,
				strings.Join(script.Languages, ", ")))
		}
	}
	for i, line := range strings.Split(withoutBlocks(text), "\n") {
		if commandLine.MatchString(line) {
			problems = append(problems, fmt.Sprintf("line %d: the command is indented; use a console block", i+1))
		}
	}
	return problems
}

// withoutBlocks returns a text with empty lines in place of blocks and comments.
func withoutBlocks(text string) string {
	empty := func(found string) string { return strings.Repeat("\n", strings.Count(found, "\n")) }
	return htmlComment.ReplaceAllStringFunc(fence.ReplaceAllStringFunc(text, empty), empty)
}

var htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)

// Every page whose commands the tests run is a valid script, including the HTML comments with settings for the tests.
// Pages for users contain only blocks in known languages.
func TestPagesAreScripts(t *testing.T) {
	for _, p := range scripts(t) {
		for _, problem := range script.Parse(p.text).Problems {
			t.Errorf("%s:%d: %s", p.path, problem.Line, problem.Text)
		}
		if !isStrict(p.path) {
			continue
		}
		for _, problem := range strictProblems(p.text) {
			t.Errorf("%s: %s", p.path, problem)
		}
	}
}

// words counts the words of the text that readers see.
func words(text string) int { return len(strings.Fields(htmlComment.ReplaceAllString(text, ""))) }

// longCells returns the table cells with too many words.
func longCells(text string) []string {
	var long []string
	for line := range strings.SplitSeq(withoutBlocks(text), "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "|") {
			continue
		}
		for cell := range strings.SplitSeq(line, "|") {
			if len(strings.Fields(cell)) > mostCellWords {
				long = append(long, strings.TrimSpace(cell))
			}
		}
	}
	return long
}

// generated matches the pages of the reference that make targets write.
var generated = regexp.MustCompile(`^docs/reference/(cli/|providers/|(conditions|events|v1alpha[12])\.md$)`)

// Pages and table cells must be short enough to read.
func TestPagesAreShort(t *testing.T) {
	for _, p := range append(below(t, "docs"), readPage(t, "README.md")) {
		most := mostWords
		if strings.HasPrefix(p.path, "docs/reference/") {
			most = mostReferenceWords
		}
		if count := words(p.text); count > most && !generated.MatchString(p.path) {
			t.Errorf("%s has %d words, at most %d", p.path, count, most)
		}
	}
	for _, p := range scripts(t) {
		for _, cell := range longCells(p.text) {
			t.Errorf("%s: a cell has %d words, want at most %d: %q", p.path, len(strings.Fields(cell)), mostCellWords, cell)
		}
	}
}
