// Command explain shows a manifest, and the keys of the server's configuration that its fields set. It writes the whole
// configuration to a file. `make demo` starts with it, because it compiles in half the time of kubectl llamastack.
//
//	go run ./hack/explain MANIFEST FILE
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: explain MANIFEST FILE")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "explain:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, manifest, file string) error {
	data, err := os.ReadFile(manifest)
	if err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	found := dryrun.Gather(document.Parse(manifest, data, false), dryrun.DefaultNamespace)
	if len(found.Stacks) != 1 {
		return fmt.Errorf("%q has %d stacks, but this command explains one", manifest, len(found.Stacks))
	}
	stack := found.Stacks[0]
	outcome := found.Plan(stack)
	if outcome.Plan == nil {
		return fmt.Errorf("%q: %s", manifest, strings.Join(outcome.Errors, "; "))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	config := stack.Config(outcome.Plan)
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	fmt.Fprintf(out, "\nYou write (%s):\n\n", manifest)
	for line := range strings.Lines(stackOf(string(data))) {
		fmt.Fprint(out, "    ", line)
	}
	values := stack.Explain(outcome.Plan)
	fmt.Fprintf(out, "\nThe server reads %d keys (%s). Most are from the distribution, and these from your fields:\n\n",
		len(values), file)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i := range values {
		if strings.HasPrefix(values[i].Origin, "spec.") {
			fmt.Fprintf(table, "    %s\t%s\t%s\n", values[i].Path, values[i].Value, values[i].Origin)
		}
	}
	return table.Flush()
}

// stackOf returns the document of a manifest that contains the stack, without its comments.
func stackOf(manifest string) string {
	for part := range strings.SplitSeq(manifest, "\n---\n") {
		if !strings.Contains(part, "kind: LlamaStackDistribution\n") {
			continue
		}
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSpace(part), "\n") {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n") + "\n"
	}
	return ""
}
