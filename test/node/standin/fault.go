package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// terminationLog is the file from which the kubelet reads the termination message of a container.
const terminationLog = "/dev/termination-log"

// faults are the faults that a stand-in's environment variables specify.
type faults struct {
	// exit is the exit code with which the server exits immediately ($STANDIN_EXIT).
	exit *int
	// start is the time before the server begins to listen ($STANDIN_START).
	start time.Duration
	// hang is the time from the start until the server stops answering ($STANDIN_HANG).
	hang *time.Duration
	// memory is the additional memory that the server uses, in MiB ($STANDIN_MEMORY).
	memory int
	// leak makes the server exit with an error that quotes every secret in its environment ($STANDIN_LEAK=true), like a
	// server that rejects a value.
	leak bool
}

func readFaults(w world) (*faults, error) {
	f := &faults{}
	for name, read := range map[string]func(string) error{
		"STANDIN_EXIT":   func(text string) error { code, err := strconv.Atoi(text); f.exit = &code; return err },
		"STANDIN_START":  func(text string) (err error) { f.start, err = time.ParseDuration(text); return err },
		"STANDIN_HANG":   func(text string) error { after, err := time.ParseDuration(text); f.hang = &after; return err },
		"STANDIN_MEMORY": func(text string) (err error) { f.memory, err = strconv.Atoi(text); return err },
		"STANDIN_LEAK":   func(text string) (err error) { f.leak, err = strconv.ParseBool(text); return err },
	} {
		if text := w.getenv(name); text != "" {
			if err := read(text); err != nil {
				return nil, fmt.Errorf("standin: variable %s: %w", name, err)
			}
		}
	}
	return f, nil
}

// ballast is the memory that the fault allocates. It is a package variable, so that it is not garbage collected.
var ballast []byte

// beforeStart runs the faults that occur before a server listens, and reports whether the server must then exit.
func (f *faults) beforeStart(ctx context.Context, w world) (code int, ends bool) {
	if f.leak {
		quote(w)
		return exitFailed, true
	}
	const mebibyte, page = 1 << 20, 4 << 10
	ballast = make([]byte, f.memory*mebibyte)
	for i := 0; i < len(ballast); i += page {
		ballast[i] = 1
	}
	if f.exit != nil {
		fmt.Fprintf(w.stderr, "standin: exiting with code %d, as configured\n", *f.exit)
		return *f.exit, true
	}
	select {
	case <-time.After(f.start):
		return 0, false
	case <-ctx.Done():
		return 0, true
	}
}

// quote prints an error as Pydantic does when a process exits with an exception. The output contains the class of the
// exception and the rejected values.
func quote(w world) {
	var text strings.Builder
	text.WriteString("pydantic_core._pydantic_core.ValidationError: 1 validation error for ProviderConfig\n")
	for _, variable := range w.environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "LLSD_") {
			fmt.Fprintf(&text, "  Input should be a valid URL [type=url_parsing, input_value='%s', input_type=str]\n", value)
		}
	}
	fmt.Fprint(w.stderr, text.String())
	file, err := os.OpenFile(terminationLog, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil { // the file does not exist outside a container
		return
	}
	defer file.Close()
	fmt.Fprint(file, text.String())
}

// hanging returns a handler that does not answer requests once the time that the fault specifies has passed. Such a
// request waits until the client disconnects.
func (f *faults) hanging(inner http.Handler) http.Handler {
	if f.hang == nil {
		return inner
	}
	from := time.Now().Add(*f.hang)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if time.Now().After(from) {
			<-r.Context().Done()
			return
		}
		inner.ServeHTTP(w, r)
	})
}
