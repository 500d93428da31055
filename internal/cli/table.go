package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// The forms of what is shown as a table.
const (
	formTable = "table"
	formJSON  = "json"
	formYAML  = "yaml"
)

// checkForm says whether -o can be used.
func checkForm(form string) error {
	switch form {
	case formTable, formJSON, formYAML:
		return nil
	default:
		return fmt.Errorf("--output: %q is none of %s, %s, %s", form, formTable, formJSON, formYAML)
	}
}

// writeData writes a value for programs.
func writeData(w io.Writer, form string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil && form == formYAML {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return fmt.Errorf("print %s: %w", form, err)
	}
	_, err = fmt.Fprintln(w, strings.TrimSuffix(string(data), "\n"))
	return err
}

// writeTable writes rows in columns, for people.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		line := strings.Join(row, "\t")
		if _, err := fmt.Fprintln(table, strings.NewReplacer("\n", " ").Replace(line)); err != nil {
			return err
		}
	}
	return table.Flush()
}

// dash stands for nothing in a table.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
