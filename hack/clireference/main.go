// Command clireference writes the reference for kubectl-llamastack: a page for each command, and an index. Each page
// begins with the help of its command. clireference keeps the handwritten text below the comment that ends the
// generated part of a page.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clireference FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "clireference:", err)
		os.Exit(1)
	}
}

const (
	index = "README.md"
	begin = "<!-- `make generate-docs` uses the command's help to write the text between this comment and the next comment. -->\n"
	end   = "<!-- End of the generated part. The text below is written by hand. -->\n"
)

const (
	success  = "success"
	rejected = "a manifest is rejected or cannot be read, or the files contain no stack; the command writes nothing to standard output"
	failed   = "the cluster or the server does not respond, a permission is missing, or the stack does not exist"
	wrong    = "an unknown command, flag or value, or a file that does not exist"
)

// exitCodes lists the meanings of the exit codes 0, 1 and 2 for each command. The text for a code is empty if the
// command never uses the code.
var exitCodes = map[string][3]string{
	"init":   {success, "", wrong + "; an invalid answer, or, without --force, a file that already exists"},
	"render": {success, rejected, wrong},
	"validate": {
		success, "a manifest is rejected or cannot be read, or the files contain no stack; with --strict, also a warning", wrong,
	},
	"providers": {success, "", wrong + "; an unknown release, API or type"},
	"upgrade-check": {
		success, "a stack would not start on the release in --to, a manifest is rejected, or the cluster does not " +
			"respond; a pinned stack does not cause this exit code", wrong,
	},
	"convert": {success, "a manifest is rejected, or nothing can be converted; the command writes nothing to standard output", wrong},
	"image inspect": {
		success, "the operator does not accept the image, or the image cannot be read", wrong + "; an invalid image name",
	},
	"image label": {success, "the image cannot be labeled or written", wrong + "; an invalid image name"},
	"bundle load": {success, "an image cannot be loaded", wrong},
	"migrate": {
		success, "a stack is rejected or cannot be written, or the cluster or the conversion webhook does not respond", wrong,
	},
	"status": {"the status is shown, even if the stack is not ready", failed, wrong},
	"models": {success, failed, wrong},
	"events": {success, failed, wrong},
	"logs":   {success, failed, wrong},
	"open":   {"you ended the command with Ctrl-C", failed + "; no pod is ready, or the port is in use", wrong},
	"chat": {
		success,
		failed + "; the server requires a token or does not have the model, or the model's provider fails",
		wrong,
	},
	"support-bundle": {success, failed + ", or the file cannot be written", wrong},
	"doctor":         {"no check reports an error", "a check reports an error, or the cluster does not respond", wrong},
	"diff": {
		"no difference", "differences, or a stack that does not exist yet",
		"an error: a manifest is invalid, the cluster does not respond, or the command line is invalid",
	},
	"version": {success, "the cluster does not respond", wrong},
}

// run writes the pages. It returns an error for a page whose command no longer exists, because the page may contain
// notes.
func run(folder string) error {
	root := cli.NewCommand(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "reference")
	root.InitDefaultHelpFlag()
	commands := leaves(root)
	known := map[string]bool{index: true}
	for _, command := range commands {
		known[fileOf(command)] = true
		if _, ok := exitCodes[nameOf(command)]; !ok {
			return fmt.Errorf("command %q is missing from exitCodes; add it", nameOf(command))
		}
		if err := write(filepath.Join(folder, fileOf(command)), page(command)); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(folder, index), overview(root)); err != nil {
		return err
	}
	found, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("list pages: %w", err)
	}
	for _, file := range found {
		if !known[file.Name()] {
			return fmt.Errorf("there is no command for page %s; remove the page", filepath.Join(folder, file.Name()))
		}
	}
	return nil
}

// leaves returns the commands that have no subcommands, in the order of the help.
func leaves(command *cobra.Command) []*cobra.Command {
	if !command.HasSubCommands() {
		return []*cobra.Command{command}
	}
	var all []*cobra.Command
	for _, child := range command.Commands() {
		all = append(all, leaves(child)...)
	}
	return all
}

// nameOf returns the name of a command without the name of the binary, for example "image label".
func nameOf(command *cobra.Command) string {
	return strings.TrimPrefix(command.CommandPath(), command.Root().Name()+" ")
}

func fileOf(command *cobra.Command) string {
	return strings.ReplaceAll(nameOf(command), " ", "-") + ".md"
}

// write replaces the generated part of a page, and keeps the notes below it.
func write(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read page: %w", err)
	}
	_, notes, found := strings.Cut(string(old), end)
	if len(old) > 0 && !found {
		return fmt.Errorf("%s does not have the line %q; add this line after the generated part", path, strings.TrimSpace(end))
	}
	//nolint:gosec // a public file of the repository
	if err := os.WriteFile(path, []byte(text+end+notes), 0o644); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// page returns the generated part of a command's page.
func page(command *cobra.Command) string {
	command.InitDefaultHelpFlag()
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n%s\n%s.\n", nameOf(command), begin, command.Short)
	block(&text, "Synopsis", strings.Replace(command.UseLine(), "kubectl-llamastack", "kubectl llamastack", 1))
	block(&text, "Description", command.Long)
	block(&text, "Examples", dedent(command.Example))
	var own pflag.FlagSet
	connection := kube.Connection(command)
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if connection.Lookup(flag.Name) == nil {
			own.AddFlag(flag)
		}
	})
	block(&text, "Flags", own.FlagUsages())
	if connection.HasFlags() {
		text.WriteString("\nThe command also has the [flags for the connection](README.md#flags-for-the-connection).\n")
	}
	text.WriteString("\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for i, meaning := range exitCodes[nameOf(command)] {
		if meaning != "" {
			fmt.Fprintf(&text, "| %d | %s |\n", i, meaning)
		}
	}
	text.WriteString("\n")
	return text.String()
}

// block writes a section with the content in a code block. It writes nothing if the content is empty.
func block(text *strings.Builder, title, content string) {
	if content = strings.TrimRight(content, "\n"); content != "" {
		fmt.Fprintf(text, "\n## %s\n\n```text\n%s\n```\n", title, content)
	}
}

func dedent(example string) string {
	return strings.TrimPrefix(strings.ReplaceAll(example, "\n  ", "\n"), "  ")
}

// overview returns the generated part of the index.
func overview(root *cobra.Command) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Command line\n\n%s", begin)
	for _, group := range root.Groups() {
		fmt.Fprintf(&text, "\n## %s\n\n| command | action |\n|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, child := range root.Commands() {
			if child.GroupID != group.ID {
				continue
			}
			for _, leaf := range leaves(child) {
				fmt.Fprintf(&text, "| [`%s`](%s) | %s |\n", nameOf(leaf), fileOf(leaf), strings.ReplaceAll(leaf.Short, "|", `\|`))
			}
		}
	}
	block(&text, "Flag for every command", root.PersistentFlags().FlagUsages())
	for _, command := range leaves(root) {
		if connection := kube.Connection(command); connection.HasFlags() {
			block(&text, "Flags for the connection", connection.FlagUsages())
			break
		}
	}
	text.WriteString("\n")
	return text.String()
}
