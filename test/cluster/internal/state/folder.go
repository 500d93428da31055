package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/cgroup"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
)

// groupTimeout is the time limit for the removal of a control group. The kernel may need a moment before it treats the
// group as empty.
const groupTimeout = 10 * time.Second

// Folder is a state directory whose lock this process holds.
type Folder struct {
	path string
	lock *os.File

	mutex  sync.Mutex
	record Record
}

// Create locks the directory for a new control plane, and removes the files that a killed control plane left in it. It
// returns an error if a control plane uses the directory, or if the directory contains files that this tool did not
// create.
func Create(ctx context.Context, path string, record Record) (*Folder, error) {
	if _, err := Read(path); err != nil && !errors.Is(err, ErrAbsent) {
		return nil, err
	}
	lock, err := acquire(path)
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("a control plane is running or starting in %q: run `cluster down --dir %s` first", path, path)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, lock: lock, record: record}
	if err := f.clear(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// Inherit takes over a directory, with its lock, from the process that created it.
func Inherit(path string, lock *os.File) (*Folder, error) {
	record, err := Read(path)
	if err != nil {
		return nil, err
	}
	return &Folder{path: path, lock: lock, record: record}, nil
}

// prepare writes the record before any other file, so that the directory can be recognized even if its creator is
// killed early.
func (f *Folder) prepare() error {
	if err := write(f.path, f.record); err != nil {
		return err
	}
	for _, name := range []string{"pki", "log"} {
		if err := os.MkdirAll(f.Path(name), 0o700); err != nil {
			return fmt.Errorf("preparing the folder of a control plane: %w", err)
		}
	}
	return nil
}

// Path returns a path inside the directory.
func (f *Folder) Path(elements ...string) string {
	return filepath.Join(append([]string{f.path}, elements...)...)
}

// Lock returns the open lock file, to pass to a child.
func (f *Folder) Lock() *os.File { return f.lock }

// Record returns a copy of the record as last written.
func (f *Folder) Record() Record {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.record
}

// Update changes the record and writes it to the directory.
func (f *Folder) Update(change func(*Record)) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	change(&f.record)
	return write(f.path, f.record)
}

// Remove removes the directory and releases the lock.
func (f *Folder) Remove(ctx context.Context) error {
	defer f.Release()
	if err := f.empty(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(f.path); err != nil {
		return fmt.Errorf("removing the folder of a control plane: %w", err)
	}
	return nil
}

// Release releases the lock and leaves the directory for inspection.
func (f *Folder) Release() { _ = f.lock.Close() }

// clear ends the processes that outlived their supervisor, and empties the directory, except for the lock.
func (f *Folder) clear(ctx context.Context) error {
	old, err := Read(f.path)
	if err != nil && !errors.Is(err, ErrAbsent) {
		return err
	}
	if err := stopComponents(ctx, old); err != nil {
		return err
	}
	return f.empty(ctx)
}

// empty removes all files except the lock. It removes the record last, so that the directory can be recognized even if
// this process is killed early. It also removes the node's control group, whose name is derived from the directory.
func (f *Folder) empty(ctx context.Context) error {
	// The removal continues even if the caller's context is canceled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), groupTimeout)
	defer cancel()
	if err := cgroup.Of(f.path).Remove(ctx); err != nil {
		return err
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("listing the folder of a control plane: %w", err)
	}
	var problems []error
	for _, entry := range entries {
		if name := entry.Name(); name != lockName && name != recordName {
			problems = append(problems, os.RemoveAll(f.Path(name)))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("emptying the folder of a control plane: %w", err)
	}
	if err := os.RemoveAll(f.Path(recordName)); err != nil {
		return fmt.Errorf("removing the record of a control plane: %w", err)
	}
	return nil
}

// Down ends the control plane in the given directory, removes the directory, and reports whether the directory existed.
// You can call Down at any time, repeatedly, and after any process has been killed. grace is the time limit for the
// supervisor to end after a signal.
func Down(ctx context.Context, path string, grace time.Duration) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := Read(path); err != nil && !errors.Is(err, ErrAbsent) {
		return false, err
	}
	lock, err := seize(ctx, path, grace)
	if err != nil {
		return false, err
	}
	f := &Folder{path: path, lock: lock}
	old, err := Read(path)
	if err != nil && !errors.Is(err, ErrAbsent) {
		f.Release()
		return false, err
	}
	if err := stopComponents(ctx, old); err != nil {
		f.Release()
		return false, err
	}
	return true, f.Remove(ctx)
}

// seize ends a running supervisor and takes its lock.
func seize(ctx context.Context, path string, grace time.Duration) (*os.File, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		lock, err := acquire(path)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		// The record has no supervisor if the launcher has not started it yet.
		record, err := Read(path)
		if err != nil && !errors.Is(err, ErrAbsent) {
			return nil, err
		}
		if record.Supervisor.Alive() {
			if err := record.Supervisor.Stop(ctx, grace); err != nil {
				return nil, fmt.Errorf("ending the control plane in %q: %w", path, err)
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting until the control plane in %q releases the folder: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}

// stopComponents kills the remaining components of a control plane, in the reverse order of their start. Its data is
// about to be removed, so no component needs an orderly shutdown.
func stopComponents(ctx context.Context, record Record) error {
	var problems []error
	for _, component := range slices.Backward(record.Components) {
		if err := component.Process.Stop(ctx, 0); err != nil {
			problems = append(problems, fmt.Errorf("ending %s: %w", component.Name, err))
		}
	}
	return errors.Join(problems...)
}

// Supervised reports whether the supervisor of the control plane is running.
func Supervised(record Record) bool {
	return record.Supervisor != process.Identity{} && record.Supervisor.Alive()
}
