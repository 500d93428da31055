// Command standin replaces a Llama Stack server in the tests on a real node. It is a small static program that starts
// in milliseconds, answers requests about its configuration, and can fail in every way in which a server can fail. The
// same image contains a model server that requires a token, and a client for `kubectl exec`.
//
//	standin [--insecure]       a server, on the configuration in $RUN_CONFIG_PATH
//	standin vllm               a model server that demands $VLLM_API_KEY
//	standin get|post|dns …     a client; -h shows how
//	standin idle               nothing, until it is told to end
//	python, uvicorn            the same server, as the launchers of stacks of v1alpha1 start it
//	ollama serve|pull|list     the model server, as users of Ollama start it
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

// world contains the inputs of the program: arguments, environment and streams.
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

// commands contains the commands by name. The server does not have a name, as in a real image.
var commands = map[string]func(context.Context, world, []string) error{
	"vllm": runModelServer,
	"get":  runGet,
	"post": runPost,
	"dns":  runDNS,
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
