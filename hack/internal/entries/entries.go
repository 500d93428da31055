// Package entries finds the entries for condition reasons and event reasons in the troubleshooting pages.
package entries

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Entry is the location of a troubleshooting entry: its page and its anchor.
type Entry struct{ Page, Anchor string }

// String returns the last part of a link to the entry.
func (e Entry) String() string { return e.Page + "#" + e.Anchor }

var (
	// heading matches a heading that begins with reasons, for example "## `SecretNotFound`, `SecretKeyMissing`: the Secret
	// …".
	heading = regexp.MustCompile("(?m)^#+ ((?:`[A-Za-z]+`(?:, )?)+: .*)$")
	// row matches a table row that begins with an anchor and a reason.
	row    = regexp.MustCompile("(?m)^\\| *<a id=\"([a-z]+)\"></a>`([A-Za-z]+)` *\\|")
	reason = regexp.MustCompile("`([A-Za-z]+)`")
	// dropped matches the characters that Anchor removes from a heading.
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Read returns the entries of the pages in a folder, keyed by reason. A reason with two entries causes an error.
func Read(folder string) (map[string]Entry, error) {
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	found := map[string]Entry{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, fmt.Errorf("read page: %w", err)
		}
		for name, anchor := range in(string(text)) {
			for _, one := range anchor {
				if first, twice := found[name]; twice {
					return nil, fmt.Errorf("%q has two entries, %s and %s#%s; remove one of the entries", name, first, filepath.Base(page), one)
				}
				found[name] = Entry{Page: filepath.Base(page), Anchor: one}
			}
		}
	}
	return found, nil
}

// in returns the anchors of the entries in a page's text, keyed by reason.
func in(text string) map[string][]string {
	found := map[string][]string{}
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		reasons, _, _ := strings.Cut(match[1], "`: ")
		for _, name := range reason.FindAllStringSubmatch(reasons+"`", -1) {
			found[name[1]] = append(found[name[1]], Anchor(match[1]))
		}
	}
	for _, match := range row.FindAllStringSubmatch(text, -1) {
		found[match[2]] = append(found[match[2]], match[1])
	}
	return found
}

// Anchor returns the anchor of a heading, for links.
func Anchor(title string) string {
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}
