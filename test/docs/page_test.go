package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// page is a Markdown file in the repository.
type page struct {
	path string // relative to the root of the repository
	text string
}

func readPage(t *testing.T, path string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testutil.Root(), path))
	testutil.Must(t, err)
	return page{path, string(text)}
}

// pages returns README.md, CONTRIBUTING.md, and the pages in docs, except the pages in docs/reference. It also omits
// CHANGELOG.md, because the changelog describes earlier versions.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	patterns := []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/development/*.md", "docs/development/*/*.md"}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(testutil.Root(), pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: found %d pages, error %v", pattern, len(found), err)
		}
		for _, path := range found {
			relative, err := filepath.Rel(testutil.Root(), path)
			testutil.Must(t, err)
			all = append(all, readPage(t, relative))
		}
	}
	for _, folder := range userFolders {
		if _, err := os.Stat(filepath.Join(testutil.Root(), folder)); err == nil {
			all = append(all, below(t, folder)...)
		}
	}
	return all
}

// generatedPages returns the pages in docs/reference, most of which contain generated text.
func generatedPages(t *testing.T) []page { return below(t, "docs/reference") }

var (
	fence      = regexp.MustCompile("(?ms)^```([a-z]*)(?: [^\n]*)?\n(.*?)\n```$")
	span       = regexp.MustCompile("`([^`\n]+)`")
	indented   = regexp.MustCompile(`(?m)^(?: {4}|\t)(.+)$`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	rowID      = regexp.MustCompile(`<a id="([a-z]+)"></a>`)
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	comment    = regexp.MustCompile(`\s+#.*$`)
	lineBroken = regexp.MustCompile(`\\\n\s*`)
)

// fenced returns the text of the page's code blocks in a language.
func (p page) fenced(language string) []string {
	var blocks []string
	for _, match := range fence.FindAllStringSubmatch(p.text, -1) {
		if match[1] == language {
			blocks = append(blocks, match[2])
		}
	}
	return blocks
}

// code returns the code on the page: the code spans, and the lines of the code blocks without their comments.
func (p page) code() []string {
	text := lineBroken.ReplaceAllString(p.text, "")
	var code []string
	for _, match := range fence.FindAllStringSubmatch(text, -1) {
		code = append(code, strings.Split(match[2], "\n")...)
	}
	text = fence.ReplaceAllString(text, "")
	for _, match := range span.FindAllStringSubmatch(text, -1) {
		code = append(code, match[1])
	}
	for _, match := range indented.FindAllStringSubmatch(text, -1) {
		code = append(code, match[1])
	}
	for i := range code {
		code[i] = strings.TrimSpace(comment.ReplaceAllString(code[i], ""))
	}
	return code
}

// anchors returns the anchors of a page: the anchors of headings, and the IDs of table rows.
func (p page) anchors() []string {
	var anchors []string
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(p.text, ""), -1) {
		name := noAnchor.ReplaceAllString(strings.ToLower(match[1]), "")
		anchors = append(anchors, strings.ReplaceAll(name, " ", "-"))
	}
	for _, match := range rowID.FindAllStringSubmatch(p.text, -1) {
		anchors = append(anchors, match[1])
	}
	return anchors
}

// section returns the text between a level-2 heading and the next level-2 heading.
func (p page) section(t *testing.T, title string) string {
	t.Helper()
	_, rest, found := strings.Cut(p.text, "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no section %q", p.path, title)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

func TestLinksAreValid(t *testing.T) {
	for _, p := range append(pages(t), generatedPages(t)...) {
		for _, match := range link.FindAllStringSubmatch(p.text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := p.path
			if target != "" {
				path = filepath.Join(filepath.Dir(p.path), target)
			}
			if _, err := os.Stat(filepath.Join(testutil.Root(), path)); err != nil {
				t.Errorf("%s: the target of the link to %s does not exist; if it is generated, run make reference", p.path, match[1])
				continue
			}
			if anchor != "" && !slices.Contains(readPage(t, path).anchors(), anchor) {
				t.Errorf("%s: %s has no heading #%s", p.path, path, anchor)
			}
		}
	}
}

// The index of each folder in docs links to every page in the folder, and the index of the parent folder links to this
// index. Therefore, readers reach every guide from docs/README.md in two clicks.
func TestIndexHasEveryPage(t *testing.T) {
	for _, p := range append(pages(t), generatedPages(t)...) {
		index := filepath.Join(filepath.Dir(p.path), "README.md")
		if index == p.path {
			index = filepath.Join(filepath.Dir(filepath.Dir(p.path)), "README.md")
		}
		name, err := filepath.Rel(filepath.Dir(index), p.path)
		testutil.Must(t, err)
		inDocs := strings.HasPrefix(p.path, "docs/") && p.path != "docs/README.md"
		if inDocs && !strings.Contains(readPage(t, index).text, "]("+name+")") {
			t.Errorf("%s does not link to %s", index, p.path)
		}
	}
}

var ownPath = regexp.MustCompile(`(?:^|[ =(./])((?:cmd|config|dist|docs|hack|internal|test|tools)/[A-Za-z0-9_./-]*|api/v[A-Za-z0-9_./-]*)`)

// Every repository path in the code on a page exists.
func TestPathsExist(t *testing.T) {
	for _, p := range pages(t) {
		for _, code := range p.code() {
			for _, match := range ownPath.FindAllStringSubmatch(code, -1) {
				path := strings.TrimRight(match[1], "./")
				if _, err := os.Stat(filepath.Join(testutil.Root(), path)); err != nil {
					t.Errorf("%s: the path %s does not exist (in %q)", p.path, path, code)
				}
			}
		}
	}
}
