// Package licenses tests that the programs contain only packages with an allowed license. `make verify` runs it.
package licenses

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

// allowed are licenses under which the programs may be distributed with the license of this project.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// minimum is the share of a file, in percent, that must be the text of a known license.
const minimum = 75

func TestLinkedModules(t *testing.T) {
	checked := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps",
			"-f", "{{with .Module}}{{$.Dir}}\t{{.Dir}}\t{{.Path}}{{end}}", "./cmd/...")
		list.Dir, list.Env, list.Stderr = "../../../..", append(os.Environ(), "GOOS="+system), os.Stderr
		printed, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(printed)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 3 {
				continue // a package of the standard library
			}
			files := licenses(t, fields[0], fields[1])
			if len(files) == 0 {
				t.Errorf("%s has no license", fields[2])
			}
			for _, file := range files {
				if text, err := os.ReadFile(file); err != nil {
					t.Error(err)
				} else if reason := refusal(text); !checked[file] && reason != "" {
					t.Errorf("%s: %s", file, reason)
				}
				checked[file] = true
			}
		}
	}
	if len(checked) < 50 {
		t.Errorf("only %d files have a license", len(checked))
	}
}

// licenses returns the files with the licenses of a package: those of the nearest folder that has any.
func licenses(t *testing.T, folder, module string) []string {
	t.Helper()
	for ; strings.HasPrefix(folder, module); folder = filepath.Dir(folder) {
		var found []string
		for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "COPYING*"} {
			files, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, files...)
		}
		// LICENSE.docs is about the documentation of a module, which the programs do not contain.
		found = slices.DeleteFunc(found, func(file string) bool { return strings.HasSuffix(file, ".docs") })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// refusal returns why a license is not allowed, or "".
func refusal(text []byte) string {
	scanned := licensecheck.Scan(text)
	for _, match := range scanned.Match {
		if !slices.Contains(allowed, match.ID) {
			return "the license " + match.ID + " is not allowed"
		}
	}
	if scanned.Percent < minimum {
		return "most of the text is no known license"
	}
	return ""
}

// The other test accepts known licenses.
func TestRefusal(t *testing.T) {
	const beerware = `"THE BEER-WARE LICENSE" (Revision 42): Jane wrote this file. As long as you retain this notice you
can do whatever you want with this stuff. If we meet some day, and you think this stuff is worth it, you can buy me a
beer in return.`
	for text, want := range map[string]string{
		beerware: "the license Beerware is not allowed",
		"Ask the authors before you use this software.": "most of the text is no known license",
	} {
		if got := refusal([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
