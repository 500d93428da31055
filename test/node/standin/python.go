package main

import (
	"context"
	"fmt"
	"slices"
)

// The image also contains the program under these names, in a separate folder. The launchers of stacks of v1alpha1 look
// for these names in $PATH, and start the server with them.
const (
	pythonName  = "python"
	uvicornName = "uvicorn"
	// ollamaName is the program of the model server in its image.
	ollamaName = "ollama"
)

// runAs runs the command of a name in the image.
func runAs(ctx context.Context, w world, name string, args []string) int {
	switch name {
	case pythonName:
		return runPython(ctx, w, args)
	case uvicornName:
		return runUvicorn(ctx, w, args)
	case ollamaName:
		return runOllama(ctx, w, args)
	default:
		return run(ctx, w, args)
	}
}

// runPython handles the calls of launchers to an image's Python, which read the version of the server and start the
// server. The launcher of the operator for v1alpha1 runs a program that returns a number for the way to start the
// server.
func runPython(ctx context.Context, w world, args []string) int {
	const byUvicorn = "2"
	switch {
	case len(args) >= 2 && args[0] == "-m" && args[1] == uvicornName:
		return runUvicorn(ctx, w, args[2:])
	case len(args) == 3 && args[0] == "-c" && args[2] == "llama-stack":
		fmt.Fprintln(w.stdout, w.getenv("STANDIN_VERSION"))
		return 0
	case len(args) == 2 && args[0] == "-c":
		fmt.Fprintln(w.stdout, byUvicorn)
		return 0
	default:
		fmt.Fprintf(w.stderr, "standin: this is not Python: %q\n", args)
		return exitFailed
	}
}

// runUvicorn serves like the server's factory, which reads the path of its configuration from another variable, and its
// port only from its argument.
func runUvicorn(ctx context.Context, w world, args []string) int {
	port := defaultPort
	if at := slices.Index(args, "--port"); at >= 0 && at+1 < len(args) {
		port = args[at+1]
	}
	getenv := w.getenv
	w.getenv = func(name string) string {
		switch name {
		case "RUN_CONFIG_PATH":
			return getenv("LLAMA_STACK_CONFIG")
		case "LLAMA_STACK_PORT":
			return port
		default:
			return getenv(name)
		}
	}
	return runServer(ctx, w)
}
