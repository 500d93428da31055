// Command man writes a man page for each command of kubectl-llamastack into a folder. The pages contain the month in
// SOURCE_DATE_EPOCH.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra/doc"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man VERSION FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func run(version, folder string) error {
	root := cli.NewCommand(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, version)
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Source: "kubectl-llamastack", Manual: "Llama Stack"}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return fmt.Errorf("write the man pages: %w", err)
	}
	return nil
}
