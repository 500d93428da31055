package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
)

// longestValue is the maximum length of a value in a table, in characters.
const longestValue = 60

// Shortened returns a value cut to longestValue.
func Shortened(value string) string {
	if runes := []rune(value); len(runes) > longestValue {
		return string(runes[:longestValue-1]) + "…"
	}
	return value
}

// These constants are the output formats of commands that print a table.
const (
	FormTable = "table"
	FormJSON  = "json"
	FormYAML  = "yaml"
)

// CheckForm returns an error for a value of --output that a command with a table does not accept.
func CheckForm(form string) error {
	if forms := []string{FormTable, FormJSON, FormYAML}; !slices.Contains(forms, form) {
		return UnknownValue("--output", form, forms)
	}
	return nil
}

// WriteData writes a value as JSON or YAML.
func WriteData(page *bytes.Buffer, form string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil && form == FormYAML {
		// The YAML decoder rejects control characters that JSON need not escape.
		data, err = yaml.JSONToYAML([]byte(visible.Controls(string(data))))
	}
	if err == nil && form == FormYAML {
		data, err = visible.YAML(data)
	}
	if err != nil {
		return fmt.Errorf("print %s: %w", form, err)
	}
	fmt.Fprintln(page, strings.TrimSuffix(string(data), "\n"))
	return nil
}

// WriteForm writes a value in an output format. For the format table, it calls the given function.
func WriteForm(page *bytes.Buffer, form string, value any, table func(*bytes.Buffer)) error {
	if form == FormTable {
		table(page)
		return nil
	}
	return WriteData(page, form, value)
}

// WriteTable writes rows in aligned columns.
func WriteTable(page *bytes.Buffer, rows [][]string) {
	if len(rows) > 0 {
		page.WriteString((&layout.Table{Header: rows[0], Rows: rows[1:]}).String(0))
	}
}

// Fit wraps the lines of a page to the width of the terminal. Zero means that there is no terminal.
func Fit(page *bytes.Buffer, width int) {
	text := strings.TrimSuffix(page.String(), "\n")
	if width == 0 || text == "" {
		return
	}
	page.Reset()
	page.WriteString(layout.Paragraph(text, width))
}

// Dash returns the text, or "-" if the text is empty.
func Dash(text string) string {
	return cmp.Or(text, "-")
}
