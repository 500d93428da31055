// Command standin replaces a Llama Stack server in the tests on a real node. It is a small static program that starts
// in milliseconds, answers requests about its configuration, and can produce the faults of a real server. The same
// image contains a model server that requires a token, and a client for `kubectl exec`.
//
//	standin [--insecure]       runs a server with the configuration in $RUN_CONFIG_PATH
//	standin vllm               runs a model server that requires the token $VLLM_API_KEY
//	standin get|post …         runs a client; -h shows its options
//	standin idle               waits until a signal stops it
//	python, uvicorn            run the same server, for the launchers of v1alpha1 stacks
//	ollama serve|pull|list     behaves like Ollama, with the same model server
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// world contains the environment and the output streams of the program.
type world struct {
	getenv         func(string) string
	environ        func() []string
	stdout, stderr io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := runAs(ctx, world{os.Getenv, os.Environ, os.Stdout, os.Stderr}, filepath.Base(os.Args[0]), os.Args[1:])
	stop()
	os.Exit(code)
}

const (
	exitFailed = 1
	exitUsage  = 2
)

// commands contains the commands, keyed by name. The server has no command name, because the entrypoint of a real image
// starts the server without a command name.
var commands = map[string]func(context.Context, world, []string) error{
	"vllm": runModelServer,
	"get":  runGet,
	"post": runPost,
	"idle": func(ctx context.Context, _ world, _ []string) error { <-ctx.Done(); return nil },
}

func run(ctx context.Context, w world, args []string) int {
	if len(args) > 0 && args[0] != insecureArgument {
		command, known := commands[args[0]]
		if !known {
			fmt.Fprintf(w.stderr, "standin: unknown command %q\n", args[0])
			return exitUsage
		}
		if err := command(ctx, w, args[1:]); err != nil {
			fmt.Fprintln(w.stderr, err)
			return exitFailed
		}
		return 0
	}
	return runServer(ctx, w)
}
