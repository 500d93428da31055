package cgroup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// mount is the path at which the machine's cgroup hierarchies are mounted.
const mount = "/sys/fs/cgroup"

// Group is the control group of the cluster in one state directory.
type Group struct {
	root string
	// Name is the path of the group below each hierarchy, with a leading slash.
	Name string
}

// Of returns the group whose name is derived from the state directory. A process that holds the directory's lock may
// create and remove the group, even if an earlier holder of the lock was killed.
func Of(folder string) Group { return of(mount, folder) }

func of(root, folder string) Group {
	digest := sha256.Sum256([]byte(folder))
	return Group{root: root, Name: "/llama-stack-" + hex.EncodeToString(digest[:4])}
}

// Unified reports whether the machine has only the single hierarchy of cgroup version 2.
func Unified() bool {
	_, err := os.Stat(filepath.Join(mount, "cgroup.controllers"))
	return err == nil
}

// Make creates the group in every hierarchy.
func (g Group) Make() error {
	hierarchies, err := g.hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range hierarchies {
		if err := os.Mkdir(filepath.Join(hierarchy, g.Name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // the kernel uses the same mode
			return fmt.Errorf("making the node's control group: %w", err)
		}
		if err := inheritCPUs(hierarchy, g.Name); err != nil {
			return err
		}
	}
	return nil
}

// inheritCPUs copies the parent's values to the files that are empty in a new group of the cpuset hierarchy. Until
// then, no process can enter the group.
func inheritCPUs(hierarchy, name string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		data, err := os.ReadFile(filepath.Join(hierarchy, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(hierarchy, name, file), data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("preparing the node's control group: %w", err)
		}
	}
	return nil
}

// Remove removes the group and the groups in it. They must not contain a process. Remove tries again, because the
// kernel may need a moment before it treats a group as empty.
func (g Group) Remove(ctx context.Context) error {
	hierarchies, err := g.hierarchies()
	if err != nil {
		return err
	}
	var problems []error
	for _, hierarchy := range hierarchies {
		problems = append(problems, removeTree(ctx, filepath.Join(hierarchy, g.Name)))
	}
	return errors.Join(problems...)
}

// hierarchies returns the directories of the machine's hierarchies: one for each controller of version 1, or the only
// one of version 2. A machine without hierarchies is not an error, because then there is no group to remove.
func (g Group) hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(g.root, "cgroup.controllers")); err == nil {
		return []string{g.root}, nil
	}
	entries, err := os.ReadDir(g.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the machine's control groups: %w", err)
	}
	var folders []string
	for _, entry := range entries { // a symbolic link is another name for a hierarchy
		if entry.IsDir() {
			folders = append(folders, filepath.Join(g.root, entry.Name()))
		}
	}
	return folders, nil
}

// removeTree removes a group and the groups inside it, the innermost first. The kernel removes the files of a group.
func removeTree(ctx context.Context, folder string) error {
	var folders []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("listing control group %q: %w", folder, err)
	}
	for _, path := range slices.Backward(folders) {
		if err := removeWhenEmpty(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func removeWhenEmpty(ctx context.Context, path string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Rmdir(path)
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("removing control group %q: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("removing control group %q: %w (%w)", path, err, ctx.Err())
		case <-tick.C:
		}
	}
}
