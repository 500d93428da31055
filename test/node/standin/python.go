package main

import (
	"context"
	"fmt"
	"slices"
)

// The image also contains the program under these names, in a separate folder. The launchers of v1alpha1 stacks look
// for these names in $PATH, and start the server with them.
const (
	pythonName  = "python"
	uvicornName = "uvicorn"
	// ollamaName is the name of the program in the image of the model server.
	ollamaName = "ollama"
)

// runAs runs the command for the name under which the program was started.
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

// runPython handles the calls that launchers make to the Python interpreter of an image. These calls read the server's
// version and start the server. The launcher of the operator for v1alpha1 also runs a Python program that prints a
// number. The number determines how to start the server.
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
		fmt.Fprintf(w.stderr, "standin: the arguments %q are not supported, because this program is not Python\n", args)
		return exitFailed
	}
}

// runUvicorn starts the server as uvicorn does. The server factory that uvicorn calls reads the path of the
// configuration from a different variable, and the port only from the argument.
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
