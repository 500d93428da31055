// Command providers writes reference pages into a folder: one page for each release line of the server, with all
// provider types and their keys, and an index of these pages.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: providers FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "providers:", err)
		os.Exit(1)
	}
}

// run writes the pages.
func run(folder string) error {
	pages, err := pages()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // public files
		return fmt.Errorf("create folder: %w", err)
	}
	for name, text := range pages {
		//nolint:gosec // a public file
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write page: %w", err)
		}
	}
	return nil
}

// pages returns the texts of the pages, keyed by file name.
func pages() (map[string]string, error) {
	all := map[string]string{}
	var lines []line
	for _, name := range release.Lines() {
		match, err := release.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("release line %s: %w", name, err)
		}
		types, err := typesOf(name)
		if err != nil {
			return nil, fmt.Errorf("release line %s: %w", name, err)
		}
		variables, err := starterVariables(match.Release)
		if err != nil {
			return nil, fmt.Errorf("release line %s: %w", name, err)
		}
		current := line{Release: match.Release, types: types, variables: variables}
		lines = append(lines, current)
		all[name+".md"] = current.page()
	}
	slices.Reverse(lines)
	all["README.md"] = index(lines)
	return all, nil
}

// providerType is a type as `kubectl llamastack providers -o json` prints it.
type providerType struct {
	API        string   `json:"api"`
	Type       string   `json:"type"`
	Endpoint   string   `json:"endpointKey"`
	Credential string   `json:"credentialKey"`
	Required   []string `json:"required"`
	Needs      []string `json:"needsAPIs"`
	Note       string   `json:"note"`
	Keys       []key    `json:"keys"`
}

type key struct {
	Key      string          `json:"key"`
	Aliases  []string        `json:"aliases"`
	Type     string          `json:"type"`
	Required bool            `json:"required"`
	Secret   bool            `json:"secret"`
	Default  json.RawMessage `json:"default"`
	Supplied bool            `json:"supplied"`
}

// typesOf returns the types of a release line as `kubectl llamastack providers` prints them, so that the pages cannot
// differ from the output of this command.
func typesOf(name string) ([]providerType, error) {
	var out, problems bytes.Buffer
	streams := cli.Streams{In: &bytes.Buffer{}, Out: &out, Err: &problems}
	if code := cli.Run(streams, "docs", []string{"providers", "--release", name, "-o", "json"}); code != 0 {
		return nil, fmt.Errorf("kubectl llamastack providers: exit code %d: %s", code, problems.String())
	}
	var types []providerType
	if err := json.Unmarshal(out.Bytes(), &types); err != nil {
		return nil, fmt.Errorf("decode the output of kubectl llamastack providers: %w", err)
	}
	return types, nil
}
