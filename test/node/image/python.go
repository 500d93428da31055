package image

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// python describes a Python interpreter and its standard library.
type python struct {
	// Links is the chain of symbolic links from an environment's interpreter to Program.
	Links []string `json:"-"`
	// Program is the path of the interpreter.
	Program string `json:"program"`
	// Library is the folder of the standard library.
	Library string `json:"library"`
}

const describePython = `import json, os, sys, sysconfig
print(json.dumps({"program": os.path.realpath(sys.executable),
    "library": sysconfig.get_paths(vars={"installed_base": sys.base_prefix})["stdlib"]}))`

// findPython reads the paths from the interpreter of an environment.
func findPython(ctx context.Context, bin string) (python, error) {
	start := filepath.Join(bin, "python")
	output, err := exec.CommandContext(ctx, start, "-c", describePython).Output()
	if err != nil {
		return python{}, fmt.Errorf("read the paths from %q: %w", start, err)
	}
	var p python
	if err := json.Unmarshal(output, &p); err != nil {
		return python{}, fmt.Errorf("parse the output of %q: %w", start, err)
	}
	for at := start; at != p.Program; {
		next, err := os.Readlink(at)
		if err != nil {
			return python{}, fmt.Errorf("follow the symbolic links from %q: %w", start, err)
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(at), next)
		}
		if at != start { // the link at start is already a part of the environment
			p.Links = append(p.Links, at)
		}
		at = next
	}
	return p, nil
}

// needless matches the parts of the standard library that servers do not use: whole folders, compiled modules for
// tkinter and for tests, and bytecode that is compiled with optimization.
var needless = regexp.MustCompile(`^/(test|idlelib|tkinter|turtledemo|ensurepip|lib2to3|pydoc_data|site-packages|dist-packages|config-[^/]*)$` +
	`|^/lib-dynload/_(tkinter|test|ctypes_test)|\.opt-[12]\.pyc$`)

func (p python) omit(path string) bool {
	return needless.MatchString(strings.TrimPrefix(path, p.Library))
}

// entries returns the interpreter and the library, at the same paths as on this machine.
func (p python) entries() ([]Entry, error) {
	var entries []Entry
	for _, link := range p.Links {
		target, err := os.Readlink(link)
		if err != nil {
			return nil, fmt.Errorf("read a link to the interpreter: %w", err)
		}
		entries = append(entries, Link{Path: link, Target: target})
	}
	return append(entries,
		File{Source: p.Program, Path: p.Program, Mode: 0o755},
		Tree{Source: p.Library, Path: p.Library, Omit: p.omit},
	), nil
}

// extensions returns the compiled modules below a folder, except those that omit selects.
func extensions(folder string, omit func(path string) bool) ([]string, error) {
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.Contains(entry.Name(), ".so") && !omit(path) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the compiled modules: %w", err)
	}
	return slices.Clip(found), nil
}
