package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/visible"
)

// These constants are the output formats of commands that print a table.
const (
	formTable = "table"
	formJSON  = "json"
	formYAML  = "yaml"
)

// checkForm returns an error for a value of --output that a command with a table does not accept.
func checkForm(form string) error {
	if forms := []string{formTable, formJSON, formYAML}; !slices.Contains(forms, form) {
		return unknownValue("--output", form, forms)
	}
	return nil
}

// writeData writes a value as JSON or YAML.
func writeData(page *bytes.Buffer, form string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil && form == formYAML {
		// The YAML decoder rejects control characters that JSON need not escape.
		data, err = yaml.JSONToYAML([]byte(visible.Text(string(data))))
	}
	if err != nil {
		return fmt.Errorf("print %s: %w", form, err)
	}
	fmt.Fprintln(page, strings.TrimSuffix(string(data), "\n"))
	return nil
}

// writeForm writes a value in an output format. For the format table, it calls the given function.
func writeForm(page *bytes.Buffer, form string, value any, table func(*bytes.Buffer)) error {
	if form == formTable {
		table(page)
		return nil
	}
	return writeData(page, form, value)
}

// writeTable writes rows in aligned columns.
func writeTable(page *bytes.Buffer, rows [][]string) {
	if len(rows) > 0 {
		page.WriteString((&layout.Table{Header: rows[0], Rows: rows[1:]}).String(0))
	}
}

// dash returns the text, or "-" if the text is empty.
func dash(text string) string {
	return cmp.Or(text, "-")
}
