// Command prose checks the English in the repository: comments, messages and Markdown. Each rule is a pattern with the
// words to write instead. The rules follow the style guide of the Kubernetes documentation. `make lint` runs the
// command.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// skipped lists the folders that the command does not check: generated files, copies, test data, and files in which a
// changed comment would require a rebuild or new runs.
var skipped = []string{
	"docs/reference/", "testdata/", "config/crd/", "bin/",
	// The components are built from this folder, so a changed comment would cause a rebuild of Kubernetes.
	"test/cluster/components/",
	// The record of passed runs on real servers contains the digests of these files, so a changed comment would require
	// new runs.
	"internal/core/stackconfig/release/data/",
}

func main() {
	found, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	}
	if found > 0 {
		fmt.Fprintf(os.Stderr, "prose: %d findings\n", found)
		os.Exit(1)
	}
}

// run checks the files that git tracks under the paths, or all tracked files if there are no paths. It returns the
// number of findings.
func run(paths []string, out io.Writer) (int, error) {
	files, err := tracked(paths)
	if err != nil {
		return 0, err
	}
	found := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // the file was deleted, and the deletion is not staged
		}
		if err != nil {
			return found, fmt.Errorf("read %q: %w", file, err)
		}
		texts, err := textsOf(file, data)
		if err != nil {
			return found, err
		}
		for _, text := range texts {
			for _, finding := range check(text) {
				found++
				if _, err := fmt.Fprintf(out, "%s:%d: %s\n", file, text.line, finding); err != nil {
					return found, fmt.Errorf("write a finding: %w", err)
				}
			}
		}
	}
	return found, nil
}

// tracked returns the files in the repository that the command checks.
func tracked(paths []string) ([]string, error) {
	out, err := exec.CommandContext(context.Background(), "git", append([]string{"ls-files", "-z", "--"}, paths...)...).Output() //nolint:gosec // the paths of your command line
	if err != nil {
		return nil, fmt.Errorf("list the files in the repository: %w", err)
	}
	var files []string
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if file := string(name); file != "" && !ignored(file) {
			files = append(files, file)
		}
	}
	return files, nil
}

func ignored(file string) bool {
	for _, folder := range skipped {
		if strings.HasPrefix(file, folder) || strings.Contains(file, "/"+folder) {
			return true
		}
	}
	return strings.HasPrefix(filepath.Base(file), "zz_generated")
}
