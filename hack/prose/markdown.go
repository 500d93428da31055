package main

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	mdtext "github.com/yuin/goldmark/text"
)

// markdownTexts returns the paragraphs, headings and table cells of a page, without code.
func markdownTexts(data []byte) []text {
	page := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(mdtext.NewReader(data))
	var texts []text
	// The walk never fails, because the visitor never returns an error.
	_ = ast.Walk(page, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node.Kind() {
		case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading, extast.KindTableCell:
			texts = append(texts, pageText(node, data))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return texts
}

// pageText returns the words of a block, with "code" for each code span.
func pageText(block ast.Node, data []byte) text {
	var words strings.Builder
	start := -1
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.CodeSpan:
			words.WriteString("code")
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if start < 0 {
				start = node.Segment.Start
			}
			words.Write(node.Segment.Value(data))
			if node.SoftLineBreak() || node.HardLineBreak() {
				words.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return text{page, bytes.Count(data[:max(start, 0)], []byte("\n")) + 1, words.String()}
}
