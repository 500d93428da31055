package cli

import (
	"bytes"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
)

// longestValue bounds the length of a value in a table.
const longestValue = 60

// writeExplanation writes every key of the configuration with its source.
func writeExplanation(form string) func(*bytes.Buffer, stack, *plan.Plan) error {
	return func(page *bytes.Buffer, s stack, built *plan.Plan) error {
		values := []stackconfig.Explained{}
		if built.Report != nil {
			values = built.Report.Explain()
		}
		for i := range values {
			if s.older {
				values[i].Origin = convert.OlderPaths(values[i].Origin)
			}
		}
		if form != formTable {
			return writeData(page, form, values)
		}
		if len(values) == 0 {
			return writeConfig(page, s, built)
		}
		rows := [][]string{{"KEY", "VALUE", "FROM"}}
		for _, value := range values {
			rows = append(rows, []string{value.Path, shortened(value.Value), value.Origin})
		}
		fmt.Fprintf(page, "# %s\n", s.object.Name)
		writeTable(page, rows)
		return nil
	}
}

func shortened(value string) string {
	if runes := []rune(value); len(runes) > longestValue {
		return string(runes[:longestValue-1]) + "…"
	}
	return value
}
