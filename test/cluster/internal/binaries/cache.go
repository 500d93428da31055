package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// Ensure returns the directory with the set's programs. If the directory does not exist, Ensure downloads or builds the
// programs. The first build takes minutes.
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
		fmt.Fprintf(c.Progress, "Cannot use the release of %s: %v. Building the programs from Go modules instead.\n", s.Title, err)
	}
	unlock, err := c.lock(ctx, folder)
	if err != nil {
		return "", err
	}
	if !complete(folder, s) { // the previous holder of the lock did not build them
		err = c.buildAll(ctx, s, compiler, folder)
	}
	return folder, errors.Join(err, unlock())
}

// buildAll builds all programs in a temporary directory next to `folder`, and then renames that directory to `folder`.
func (c Cache) buildAll(ctx context.Context, s Set, compiler toolchain, folder string) error {
	staging := folder + ".partial"
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o750)); err != nil {
		return fmt.Errorf("preparing %q: %w", staging, err)
	}
	defer os.RemoveAll(staging)

	fmt.Fprintf(c.Progress, "Building %s%s with %s from Go modules into %s (once; %s on two cores)\n",
		s.Title, c.Part, compiler.version, folder, s.Takes)
	start := time.Now()
	var packages []string
	err := c.step("modules", func() (err error) { packages, err = fetchModules(ctx, s); return err })
	if err != nil {
		return err
	}
	m := newMeter(c.Progress, packages)
	for _, program := range s.Programs {
		file := filepath.Join(staging, program.Name)
		m.program = program.Name
		if err := c.step(program.Name, func() error { return build(ctx, s, program, file, m) }); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(folder), os.Rename(staging, folder)); err != nil {
		return fmt.Errorf("moving the programs to %q: %w", folder, err)
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
	fmt.Fprintln(digest, s.Tags, s.LinkerFlags, s.packages())
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

// complete reports whether `folder` contains every program. A directory is complete from its creation, so a directory
// that exists is incomplete only if a user deleted programs.
func complete(folder string, s Set) bool {
	for _, program := range s.Programs {
		info, err := os.Stat(filepath.Join(folder, program.Name))
		if errors.Is(err, fs.ErrNotExist) || err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
