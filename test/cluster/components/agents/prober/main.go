// Command prober runs in the pods of the tests of the node. It contains a small web server, and client commands for
// `kubectl exec`, because the image contains no shell.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	address = ":8080"
	// patience is the time limit of each client command.
	patience = 3 * time.Second
	usage    = "use serve, get URL, lookup NAME, write FILE TEXT or read FILE"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"serve"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := run(ctx, args[0], args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "prober:", err)
		os.Exit(1) //nolint:gocritic // the exit also frees everything that the deferred cancel would free
	}
	fmt.Fprintln(os.Stdout, answer)
}

// run runs one command and returns its output.
func run(ctx context.Context, command string, args []string) (string, error) {
	switch {
	case command == "serve" && len(args) == 0:
		return "", serve()
	case command == "get" && len(args) == 1:
		return get(ctx, args[0])
	case command == "lookup" && len(args) == 1:
		addresses, err := net.DefaultResolver.LookupHost(ctx, args[0])
		return strings.Join(addresses, " "), err
	case command == "write" && len(args) == 2:
		return "", os.WriteFile(args[0], []byte(args[1]), 0o600)
	case command == "read" && len(args) == 1:
		data, err := os.ReadFile(args[0])
		return string(data), err
	default:
		return "", errors.New(usage)
	}
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody) //nolint:gosec // the program must be able to connect to any address that a test specifies
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request) //nolint:gosec // as above
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(body), err
}

// serve runs a web server that answers with the name of its pod. A request for /burn keeps a core busy for a second.
func serve() error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) })
	mux.HandleFunc("/burn", func(w http.ResponseWriter, r *http.Request) {
		for end := time.Now().Add(time.Second); time.Now().Before(end) && r.Context().Err() == nil; {
		} // busy on purpose
		fmt.Fprint(w, "burned")
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: patience}
	fmt.Fprintln(os.Stdout, "listening on", address)
	return server.ListenAndServe()
}
