package main

import (
	"context"
	"fmt"
)

// ollamaPort is Ollama's port.
const ollamaPort = "11434"

// runOllama behaves like the ollama command. Its server serves any model, so `pull` only prints the last line of the
// output.
func runOllama(ctx context.Context, w world, args []string) int {
	getenv := w.getenv
	switch {
	case len(args) == 1 && args[0] == "serve":
		w.getenv = func(name string) string {
			if value := getenv(name); value != "" || name != "PORT" {
				return value
			}
			return ollamaPort
		}
		if err := runModelServer(ctx, w, nil); err != nil {
			fmt.Fprintln(w.stderr, err)
			return exitFailed
		}
	case len(args) == 2 && args[0] == "pull":
		fmt.Fprintln(w.stderr, "success")
	case len(args) == 1 && args[0] == "list":
		fmt.Fprintln(w.stdout, "NAME    ID    SIZE    MODIFIED")
	default:
		fmt.Fprintf(w.stderr, "standin: ollama %q: use serve, pull MODEL or list\n", args)
		return exitUsage
	}
	return 0
}
