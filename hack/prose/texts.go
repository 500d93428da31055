package main

import (
	"path/filepath"
	"strings"
)

// kind is the kind of a text. Some rules apply only to some kinds.
type kind int

const (
	// comment is a comment in code, a Makefile, a Dockerfile, a script or YAML.
	comment kind = iota
	// message is a string of the product that a user reads.
	message
	// page is a paragraph, a heading or a table cell in Markdown.
	page
)

// text is a paragraph and the line where it begins.
type text struct {
	kind  kind
	line  int
	words string
}

// textsOf returns the texts in a file. It returns none for a file of an unknown type.
func textsOf(file string, data []byte) ([]text, error) {
	base := filepath.Base(file)
	switch ext := filepath.Ext(base); {
	case ext == ".go":
		return goTexts(file, data)
	case ext == ".md":
		return markdownTexts(data), nil
	case ext == ".yaml", ext == ".sh", ext == ".mk", base == "Makefile", base == "Dockerfile",
		strings.HasPrefix(string(data), "#!"):
		return hashTexts(data), nil
	}
	return nil, nil
}

// hashTexts returns the comments in a file whose comments begin with a hash sign. It skips comments after code on the
// same line.
func hashTexts(data []byte) []text {
	var texts []text
	open := false
	for i, line := range strings.Split(string(data), "\n") {
		words, found := strings.CutPrefix(strings.TrimSpace(line), "# ")
		switch {
		case !found:
			open = false
		case open:
			texts[len(texts)-1].words += " " + words
		default:
			texts, open = append(texts, text{comment, i + 1, words}), true
		}
	}
	return texts
}
