package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(1)
	}
}

// run packs the binaries in a folder, or writes the manifest.
func run(args []string) error {
	flags := flag.NewFlagSet("krew", flag.ContinueOnError)
	folder := flags.String("pack", "",
		"pack the kubectl-llamastack-OS-ARCH binaries in this folder, and write the checksums of the archives")
	license := flags.String("license", "LICENSE", "file with the license to add to each archive")
	version := flags.String("version", "", "version of the release, for example v1.2.3")
	url := flags.String("url", "", "URL of the folder with the archives")
	checksums := flags.String("checksums", "", "file with the checksums of the archives, as sha256sum prints them")
	output := flags.String("output", "", "manifest to write")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	if *folder != "" {
		return pack(*folder, *license)
	}
	if *version == "" || *url == "" || *checksums == "" || *output == "" {
		return errors.New("set -pack, or all of -version, -url, -checksums and -output")
	}
	sums, err := os.ReadFile(*checksums)
	if err != nil {
		return fmt.Errorf("read checksums: %w", err)
	}
	data, err := manifest(*version, *url, sums)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*output), 0o755); err != nil { //nolint:gosec // a public manifest
		return fmt.Errorf("create folder: %w", err)
	}
	if err := os.WriteFile(*output, data, 0o644); err != nil { //nolint:gosec // a public manifest
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}
