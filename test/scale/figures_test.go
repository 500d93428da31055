package scale_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var runs = flag.Int("runs", 1, "number of runs whose medians a benchmark states")

// figure is a row of a table.
type figure struct {
	measure string
	// format is the format of the values.
	format string
	limit  string
	values []float64
}

// repeat measures as often as the flag -runs says, each time in a new cluster, and prints a table with the median of
// each value. Run a benchmark that calls it with -benchtime=1x.
func repeat(b *testing.B, title string, measure func(*testing.B) []figure) {
	b.Helper()
	var all [][]figure
	for run := range *runs {
		b.Run(fmt.Sprint(run+1), func(b *testing.B) {
			for b.Loop() {
				all = append(all, measure(b))
			}
		})
	}
	if b.Failed() {
		return
	}
	fmt.Fprintln(os.Stdout, table(title, all))
}

// table returns a table with the medians of the figures of all runs.
func table(title string, runs [][]figure) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s, medians of runs: %d\n\n| measure | figure | limit |\n|---|---|---|\n", title, len(runs))
	for row, figure := range runs[0] {
		medians := make([]any, len(figure.values))
		for value := range medians {
			var of []float64
			for _, figures := range runs {
				of = append(of, figures[row].values[value])
			}
			medians[value] = median(of)
		}
		fmt.Fprintf(&text, "| %s | %s | %s |\n", figure.measure, fmt.Sprintf(figure.format, medians...), figure.limit)
	}
	return text.String()
}
