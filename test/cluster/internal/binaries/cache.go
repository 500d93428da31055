package binaries

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cache is the directory of programs, with one directory per build and per release.
type Cache struct {
	// Folder is the path of the cache. It contains the directories, and a lock file for each directory.
	Folder string
	// Progress receives one line for each step of a build or a download. It receives nothing if the programs already
	// exist.
	Progress io.Writer
	// Part follows the title of the set in the progress output, such as " (part 3 of 5)".
	Part string
	// Origin is the source of programs that do not exist yet.
	Origin Origin
	// Source contains the addresses of releases. The zero value means the public addresses.
	Source Source
}

// DefaultFolder returns the user's directory for programs: below $XDG_CACHE_HOME, or below ~/.cache if that variable is
// not set.
func DefaultFolder() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return filepath.Join(user, "llama-stack-k8s-operator", "kubernetes"), nil
}

// Ensure returns the directory with the programs that the set needs, and downloads or builds those that the directory
// does not contain. The first build takes minutes.
func (c Cache) Ensure(ctx context.Context, s Set) (string, error) {
	compiler, err := findToolchain(ctx, s)
	if err != nil {
		return "", err
	}
	key, err := key(s, compiler)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(c.Folder, key)
	if complete(folder, s) && (c.Origin != Release || s.Release == nil) {
		return folder, nil
	}
	if c.Origin != Modules && s.Release != nil {
		released, err := c.ensureReleased(ctx, s, compiler)
		if err == nil || c.Origin == Release || ctx.Err() != nil {
			return released, err
		}
		if released != "" && len(missing(released, s)) < len(s.needed()) {
			folder = released // only the others are built
		}
		fmt.Fprintf(c.Progress, "Cannot use the release of %s: %v. Building %s from Go modules instead.\n",
			s.Title, strings.ReplaceAll(err.Error(), "\n", "; "), names(missing(folder, s)))
	}
	unlock, err := c.lock(ctx, folder)
	if err != nil {
		return "", err
	}
	if left := missing(folder, s); len(left) > 0 { // the previous holder of the lock did not build them
		err = c.buildAll(ctx, s, left, compiler, folder)
	}
	return folder, errors.Join(err, unlock())
}

// buildAll builds programs in a temporary directory next to `folder`, and then moves them to `folder`.
func (c Cache) buildAll(ctx context.Context, s Set, programs []Program, compiler toolchain, folder string) error {
	staging := folder + ".partial"
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o750)); err != nil {
		return fmt.Errorf("preparing %q: %w", staging, err)
	}
	defer os.RemoveAll(staging)

	what, takes := s.Title, s.Takes
	if len(programs) < len(s.Programs) {
		what, takes = names(programs)+" of "+s.Title, "all programs take "+s.Takes
	}
	fmt.Fprintf(c.Progress, "Building %s%s with %s from Go modules into %s (once; %s on two cores)\n",
		what, c.Part, compiler.version, folder, takes)
	start := time.Now()
	var packages []string
	err := c.step("modules", func() (err error) { packages, err = fetchModules(ctx, s, programs); return err })
	if err != nil {
		return err
	}
	err = c.step("packages", func() error { return build(ctx, s, programs, staging, newMeter(c.Progress, packages)) })
	if err != nil {
		return err
	}
	if err := move(staging, folder); err != nil {
		return err
	}
	fmt.Fprintf(c.Progress, "Built in %.0f s\n", time.Since(start).Seconds())
	return nil
}

// step writes the name of a step, runs the step, and completes the line with its duration in seconds. On a terminal,
// the line may contain the progress of a build, which step replaces.
func (c Cache) step(name string, do func() error) error {
	fmt.Fprintf(c.Progress, "  %-24s", name)
	start := time.Now()
	err := do()
	if terminal(c.Progress) {
		fmt.Fprintf(c.Progress, "\r%-78s\r  %-24s", "", name)
	}
	if err != nil {
		fmt.Fprintln(c.Progress, " failed")
		return err
	}
	fmt.Fprintf(c.Progress, "%5.0f s\n", time.Since(start).Seconds())
	return nil
}

// key returns the name of a build. The name depends on all inputs of the build: it contains the versions in readable
// form, and a digest of the module's files and of the flags.
func key(s Set, compiler toolchain) (string, error) {
	digest := sha256.New()
	if err := addModule(digest, s.Module); err != nil {
		return "", fmt.Errorf("reading the build inputs of %s: %w", s.Title, err)
	}
	fmt.Fprintln(digest, s.Tags, s.LinkerFlags, packages(s.Programs))
	short := hex.EncodeToString(digest.Sum(nil))[:8]
	return fmt.Sprintf("%s-%s-%s-%s-%s", s.Version, compiler.version, compiler.os, compiler.arch, short), nil
}

// addModule updates a digest with the module files that a build reads, in the order of their names.
func addModule(digest io.Writer, module string) error {
	files := os.DirFS(module)
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !decides(entry.Name()) {
			return err
		}
		data, err := fs.ReadFile(files, path)
		fmt.Fprintf(digest, "%s\n%d\n%s", path, len(data), data)
		return err
	})
}

// decides reports whether a file with this name affects a build.
func decides(name string) bool {
	if name == "go.mod" || name == "go.sum" {
		return true
	}
	return filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
}

// missing returns the programs that the set needs and `folder` does not contain.
func missing(folder string, s Set) []Program {
	return slices.DeleteFunc(s.needed(), func(program Program) bool {
		info, err := os.Stat(filepath.Join(folder, program.Name))
		return err == nil && info.Mode().IsRegular()
	})
}

func complete(folder string, s Set) bool { return len(missing(folder, s)) == 0 }

// move moves the programs in a temporary directory to `folder`, one at a time, so that a program in `folder` is always
// complete. The folder may already contain other programs of the set.
func move(staging, folder string) error {
	programs, err := os.ReadDir(staging)
	err = cmp.Or(err, os.MkdirAll(folder, 0o750))
	for _, program := range programs {
		err = cmp.Or(err, os.Rename(filepath.Join(staging, program.Name()), filepath.Join(folder, program.Name())))
	}
	if err != nil {
		return fmt.Errorf("moving the programs to %q: %w", folder, err)
	}
	return nil
}
