// Command measure prints the length of the product's packages, files and functions. `make measure` runs it. The tests
// of package architecture enforce the limits.
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/test/architecture"
)

func main() {
	files, err := architecture.ReadProduct(os.DirFS("."))
	if err != nil {
		fmt.Fprintf(os.Stderr, "measure: %v\n", err)
		os.Exit(1)
	}
	report(os.Stdout, files)
}

func report(w io.Writer, files []architecture.File) {
	code, imports := architecture.PackageCode(files), architecture.FanOut(files)
	total, largest, widest := 0, 0, 0
	fmt.Fprintln(w, "  code  imports  package")
	for _, name := range slices.Sorted(maps.Keys(code)) {
		fmt.Fprintf(w, "%6d  %7d  %s\n", code[name], imports[name], name)
		total += code[name]
		largest, widest = max(largest, code[name]), max(widest, imports[name])
	}
	fmt.Fprintf(w, "%6d lines of code in %d packages and %d files; the largest package has %d, and one imports %d others\n\n",
		total, len(code), len(files), largest, widest)

	lengths := architecture.FunctionLines(files)
	percentile := func(p int) int { return lengths[(len(lengths)-1)*p/100] }
	fmt.Fprintf(w, "%d functions: median %d lines, p95 %d, max %d\n", len(lengths), percentile(50), percentile(95), percentile(100))
	for i := range files {
		if files[i].Lines > architecture.MaxFileLines {
			fmt.Fprintf(w, "over %d lines: %s (%d)\n", architecture.MaxFileLines, files[i].Path, files[i].Lines)
		}
	}
}
