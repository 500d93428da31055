package render

import (
	"bytes"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// writeExplanation returns a function that writes every key of the configuration with its source. For a stack without a
// generated configuration, the table form writes the configuration of the stack instead.
func writeExplanation(form string) func(*bytes.Buffer, dryrun.Stack, *plan.Plan) error {
	return func(page *bytes.Buffer, s dryrun.Stack, built *plan.Plan) error {
		values := s.Explain(built)
		if form != app.FormTable {
			return app.WriteData(page, form, values)
		}
		if len(values) == 0 {
			return writeConfig(page, s, built)
		}
		rows := [][]string{{"KEY", "VALUE", "FROM"}}
		for _, value := range values {
			rows = append(rows, []string{value.Path, app.Shortened(value.Value), value.Origin})
		}
		fmt.Fprintf(page, "# %s\n", s.Object.Name)
		app.WriteTable(page, rows)
		return nil
	}
}
