package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

func main() {
	record := flag.Bool("record", false, "record the release lines that passed all tiers")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: report [-record] EVENTS")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *record); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, events string, record bool) error {
	file, err := os.Open(events)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	results, err := readEvents(file)
	if err != nil {
		return fmt.Errorf("read %q: %w", events, err)
	}
	if err := results.print(out); err != nil {
		return err
	}
	if !record {
		return nil
	}
	return realserver.Record(results.passed())
}
