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
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
)

// Cache is the folder that built programs are kept in, one folder per build.
type Cache struct {
	// Folder holds the builds and a lock file for each.
	Folder string
	// Progress receives one line per step of a build, and nothing when the
	// programs are there already.
	Progress io.Writer
}

// DefaultFolder is where builds are kept for a user: below $XDG_CACHE_HOME,
// or ~/.cache when that is not set.
func DefaultFolder() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return filepath.Join(user, "llama-stack-k8s-operator", "kubernetes"), nil
}

// Ensure returns the folder with the line's programs and builds them when it
// is not there. A first build takes minutes.
func (c Cache) Ensure(ctx context.Context, l line.Line) (string, error) {
	compiler, err := findToolchain(ctx, l)
	if err != nil {
		return "", err
	}
	key, err := key(l, compiler)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(c.Folder, key)
	if complete(folder) {
		return folder, nil
	}
	unlock, err := c.lock(ctx, folder)
	if err != nil {
		return "", err
	}
	if !complete(folder) { // not built by the caller we waited for
		err = c.buildAll(ctx, l, compiler, folder)
	}
	return folder, errors.Join(err, unlock())
}

// buildAll builds every program beside folder and renames the result.
func (c Cache) buildAll(ctx context.Context, l line.Line, compiler toolchain, folder string) error {
	staging := folder + ".partial"
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o750)); err != nil {
		return fmt.Errorf("preparing %q: %w", staging, err)
	}
	defer os.RemoveAll(staging)

	fmt.Fprintf(c.Progress, "Building Kubernetes %s with %s into %s (once; minutes)\n", l.Version, compiler.version, folder)
	start := time.Now()
	if err := c.step("modules", func() error { return fetchModules(ctx, l) }); err != nil {
		return err
	}
	for _, program := range Programs() {
		file := filepath.Join(staging, program.Name)
		if err := c.step(program.Name, func() error { return build(ctx, l, program, file) }); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(folder), os.Rename(staging, folder)); err != nil {
		return fmt.Errorf("putting the programs into place: %w", err)
	}
	fmt.Fprintf(c.Progress, "Built in %.0f s\n", time.Since(start).Seconds())
	return nil
}

// step writes the name of a step, does it, and completes the line with the
// seconds it took.
func (c Cache) step(name string, do func() error) error {
	fmt.Fprintf(c.Progress, "  %-24s", name)
	start := time.Now()
	if err := do(); err != nil {
		fmt.Fprintln(c.Progress, " failed")
		return err
	}
	fmt.Fprintf(c.Progress, "%5.0f s\n", time.Since(start).Seconds())
	return nil
}

// key names a build after everything that decides its content: the versions
// for people to read, and a digest of the module files and linker flags.
func key(l line.Line, compiler toolchain) (string, error) {
	digest := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(l.Module, name))
		if err != nil {
			return "", fmt.Errorf("reading what Kubernetes %s is built from: %w", l.Name, err)
		}
		fmt.Fprintf(digest, "%d\n%s", len(data), data)
	}
	fmt.Fprintln(digest, linkerFlags(l), packages())
	short := hex.EncodeToString(digest.Sum(nil))[:8]
	return fmt.Sprintf("%s-%s-%s-%s-%s", l.Version, compiler.version, compiler.os, compiler.arch, short), nil
}

// complete tells whether folder holds every program. Folders appear whole, so
// this only guards against a user's own clean-up.
func complete(folder string) bool {
	for _, program := range Programs() {
		info, err := os.Stat(filepath.Join(folder, program.Name))
		if errors.Is(err, fs.ErrNotExist) || err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
