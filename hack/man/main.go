// Command man writes a man page for each command of kubectl-llamastack into a folder. The pages contain no date, so
// they change only if the commands change.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
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

// run writes the pages, and removes the pages of commands that no longer exist.
func run(version, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // public files
		return fmt.Errorf("create folder: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(folder, "kubectl-llamastack*.1"))
	if err != nil {
		return fmt.Errorf("list pages: %w", err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove page: %w", err)
		}
	}
	root := cli.NewCommand(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, version)
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	return write(root, folder)
}

// write writes the pages of a command and of all commands below it.
func write(command *cobra.Command, folder string) error {
	for _, child := range command.Commands() {
		if child.IsAvailableCommand() && !child.IsAdditionalHelpTopicCommand() {
			child.DisableAutoGenTag = true
			if err := write(child, folder); err != nil {
				return err
			}
		}
	}
	text, err := page(command)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil { //nolint:gosec // a public file
		return fmt.Errorf("write the man page: %w", err)
	}
	return nil
}

// page returns a command's man page without the date.
func page(command *cobra.Command) ([]byte, error) {
	zero := time.Time{}
	header := &doc.GenManHeader{Section: "1", Date: &zero, Source: "kubectl-llamastack", Manual: "Llama Stack"}
	var text bytes.Buffer
	if err := doc.GenMan(command, header, &text); err != nil {
		return nil, fmt.Errorf("create the man page for %q: %w", command.CommandPath(), err)
	}
	return bytes.Replace(text.Bytes(), []byte(`"`+zero.Format("Jan 2006")+`"`), []byte(`""`), 1), nil
}
