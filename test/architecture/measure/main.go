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
	packages := architecture.PackageLines(files)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(w, "%6d  %s\n", packages[name], name)
		total += packages[name]
	}
	fmt.Fprintf(w, "%6d  product lines in %d files\n\n", total, len(files))

	lengths := architecture.FunctionLines(files)
	percentile := func(p int) int { return lengths[(len(lengths)-1)*p/100] }
	fmt.Fprintf(w, "%d functions: median %d lines, p95 %d, max %d\n", len(lengths), percentile(50), percentile(95), percentile(100))
	for i := range files {
		if files[i].Lines > architecture.MaxFileLines {
			fmt.Fprintf(w, "over %d lines: %s (%d)\n", architecture.MaxFileLines, files[i].Path, files[i].Lines)
		}
	}
}
