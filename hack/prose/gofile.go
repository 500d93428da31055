package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// sentence matches a string that is prose: at least four words in a row.
var sentence = regexp.MustCompile(`[A-Za-z]+,? [a-z]+,? [a-z]+,? [a-z]+`)

// goTexts returns the comments in a file, and its messages if the file is part of the product.
func goTexts(file string, data []byte) ([]text, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse Go: %w", err)
	}
	var texts []text
	for _, group := range parsed.Comments {
		texts = append(texts, paragraphs(files.Position(group.Pos()).Line, group)...)
	}
	if !isProduct(file) {
		return texts, nil
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr, *ast.BasicLit:
			if words := joined(node.(ast.Expr)); sentence.MatchString(words) {
				texts = append(texts, text{message, files.Position(node.Pos()).Line, words})
				return false
			}
		}
		return true
	})
	return texts, nil
}

// isProduct reports whether users read the strings in a file.
func isProduct(file string) bool {
	for _, folder := range []string{"api/", "cmd/", "internal/"} {
		if strings.HasPrefix(file, folder) {
			return !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "internal/testutil/") &&
				!strings.HasPrefix(file, "internal/operator/controller/controllertest/")
		}
	}
	return false
}

// joined returns the concatenation of the strings in an expression, with "x" for each operand that is not a string.
func joined(node ast.Expr) string {
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if node.Op == token.ADD {
			return joined(node.X) + joined(node.Y)
		}
		return ""
	case *ast.BasicLit:
		if node.Kind != token.STRING {
			return ""
		}
		value, err := strconv.Unquote(node.Value)
		if err != nil {
			return ""
		}
		return value
	default:
		return "x"
	}
}

// paragraphs splits a group of comments at empty lines. It leaves out directives, markers, indented code and block
// comments.
func paragraphs(line int, group *ast.CommentGroup) []text {
	var texts []text
	open := false
	for i, each := range group.List {
		words, prose := strings.CutPrefix(each.Text, "// ")
		code := strings.HasPrefix(words, " ") || strings.HasPrefix(words, "\t") || strings.HasPrefix(words, "+")
		switch {
		case !prose || code:
			open = false
		case open:
			texts[len(texts)-1].words += " " + words
		default:
			texts, open = append(texts, text{comment, line + i, words}), true
		}
	}
	return texts
}
