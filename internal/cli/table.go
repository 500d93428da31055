package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// The output formats of commands that print a table.
const (
	formTable = "table"
	formJSON  = "json"
	formYAML  = "yaml"
)

// checkForm returns an error if the -o format is not supported.
func checkForm(form string) error {
	switch form {
	case formTable, formJSON, formYAML:
		return nil
	default:
		return fmt.Errorf("--output: %q is not a valid format; use one of %s, %s, %s", form, formTable, formJSON, formYAML)
	}
}

// writeData writes a value as JSON or YAML.
func writeData(page *bytes.Buffer, form string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil && form == formYAML {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return fmt.Errorf("print %s: %w", form, err)
	}
	fmt.Fprintln(page, strings.TrimSuffix(string(data), "\n"))
	return nil
}

// writeTable writes rows in aligned columns.
func writeTable(page *bytes.Buffer, rows [][]string) {
	table := tabwriter.NewWriter(page, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(table, strings.ReplaceAll(strings.Join(row, "\t"), "\n", " "))
	}
	_ = table.Flush() // a buffer accepts every write
}

// dash returns "-" for an empty text.
func dash(text string) string {
	return cmp.Or(text, "-")
}
