// Command kubectl-llamastack is a kubectl plugin for stacks. Many of its commands need no cluster.
package main

import (
	"os"
	"runtime/debug"

	"golang.org/x/term"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
)

// version is set by the release build.
var version string

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // Most commands end before the garbage matters, and collections take a fifth of their time.
	}
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	streams := cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: terminal && os.Getenv("TERM") != "dumb",
		Color: terminal && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == "", // https://no-color.org
		Width: width(os.Stdout), MessageWidth: width(os.Stderr),
	}
	os.Exit(cli.Run(streams, version, os.Args[1:]))
}

// width returns the number of columns of a terminal, and 0 for another file.
func width(file *os.File) int {
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
