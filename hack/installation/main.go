// Command installation writes the commands that install the operator into the pages. They install the newest release
// in the changelog. Before the first release, they install from a checkout. The file text.tmpl has both texts, which
// replace the lines between two comments on a page:
//
//	<!-- installation: NAME -->
//	<!-- installation: end -->
package main

import (
	_ "embed" // The texts are embedded.
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed text.tmpl
var texts string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: installation REPOSITORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "installation:", err)
		os.Exit(1)
	}
}

// run rewrites README.md and the pages in docs.
func run(repository string) error {
	changelog, err := os.ReadFile(filepath.Join(repository, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("read changelog: %w", err)
	}
	sections, err := render(newest(string(changelog)))
	if err != nil {
		return err
	}
	pages := []string{filepath.Join(repository, "README.md")}
	err = filepath.WalkDir(filepath.Join(repository, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list pages: %w", err)
	}
	used := map[string]bool{}
	for _, page := range pages {
		if err := rewrite(page, sections, used); err != nil {
			return err
		}
	}
	for name := range sections {
		if !used[name] {
			return fmt.Errorf("text.tmpl defines %q, which no page has", name)
		}
	}
	return nil
}

// released matches the headings of releases in the changelog, without release candidates.
var released = regexp.MustCompile(`(?m)^## \[([0-9]+\.[0-9]+\.[0-9]+)\]`)

// newest returns the version of the newest release in the changelog, or "".
func newest(changelog string) string {
	if match := released.FindStringSubmatch(changelog); match != nil {
		return match[1]
	}
	return ""
}

// render returns the texts for a version such as 0.10.0, or for a checkout if it is empty. The keys are their names.
func render(version string) (map[string]string, error) {
	parsed, err := template.New("").Parse(texts)
	if err != nil {
		return nil, fmt.Errorf("parse text.tmpl: %w", err)
	}
	found := map[string]string{}
	for _, each := range parsed.Templates() {
		var text strings.Builder
		if err := each.Execute(&text, version); err != nil {
			return nil, fmt.Errorf("write %q: %w", each.Name(), err)
		}
		if content := strings.TrimSpace(text.String()); each.Name() != "" && !strings.HasPrefix(each.Name(), "_") {
			found[each.Name()] = content
		}
	}
	return found, nil
}

var section = regexp.MustCompile(`(?s)<!-- installation: ([a-z-]+) -->\n.*?<!-- installation: end -->\n`)

// rewrite replaces the texts on a page.
func rewrite(path string, sections map[string]string, used map[string]bool) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	text, unknown := string(page), ""
	text = section.ReplaceAllStringFunc(text, func(old string) string {
		name := section.FindStringSubmatch(old)[1]
		if _, defined := sections[name]; !defined {
			unknown = name
		}
		used[name] = true
		return fmt.Sprintf("<!-- installation: %s -->\n\n%s\n\n<!-- installation: end -->\n", name, sections[name])
	})
	if unknown != "" {
		return fmt.Errorf("%s has the text %q, which text.tmpl does not define", path, unknown)
	}
	if text == string(page) {
		return nil
	}
	//nolint:gosec // a public file of the repository
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
