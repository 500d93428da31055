// Command licenses fails if a program contains a package whose license is not allowed. Its arguments are packages.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are licenses under which the programs may be distributed with the license of this project.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense"}

// minimum is the share of a file, in percent, that must be the text of a known license.
const minimum = 75

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(programs []string) error {
	list := exec.Command("go", append([]string{
		"list", "-deps", "-f",
		"{{with .Module}}{{$.Dir}}\t{{.Dir}}\t{{.Path}}{{end}}",
	}, programs...)...)
	list.Stderr = os.Stderr
	printed, err := list.Output()
	if err != nil {
		return err
	}
	checked := map[string]bool{}
	for line := range strings.Lines(string(printed)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue // a package of the standard library
		}
		files := licenses(fields[0], fields[1])
		if len(files) == 0 {
			err = errors.Join(err, fmt.Errorf("%s has no license", fields[2]))
		}
		for _, file := range files {
			if !checked[file] {
				err = errors.Join(err, check(file))
			}
			checked[file] = true
		}
	}
	return err
}

// licenses returns the files with the licenses of a package: those of the nearest folder that has any.
func licenses(folder, module string) []string {
	for ; strings.HasPrefix(folder, module); folder = filepath.Dir(folder) {
		var found []string
		for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "COPYING*"} {
			files, _ := filepath.Glob(filepath.Join(folder, pattern))
			found = append(found, files...)
		}
		// A file such as LICENSE.docs is about the documentation, which the programs do not contain.
		found = slices.DeleteFunc(found, func(file string) bool { return strings.HasSuffix(file, ".docs") })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func check(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	scanned := licensecheck.Scan(text)
	if scanned.Percent < minimum {
		return fmt.Errorf("%s: %.0f %% of the text is a known license, want %d %%", file, scanned.Percent, minimum)
	}
	for _, match := range scanned.Match {
		if !slices.Contains(allowed, match.ID) {
			return fmt.Errorf("%s: the license %s is not allowed", file, match.ID)
		}
	}
	return nil
}
