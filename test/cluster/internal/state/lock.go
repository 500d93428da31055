package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockName is the name of the lock file. The process that runs the control plane holds the lock.
const lockName = "lock"

// errLocked is the error for a directory whose lock another process holds.
var errLocked = errors.New("the folder is in use")

// acquire creates the given directory if necessary, and takes its lock. It returns errLocked if another process holds
// the lock. The kernel releases the lock when the last process that has the file open ends, so no lock remains without
// a process.
func acquire(folder string) (*os.File, error) {
	for {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("making the folder of a control plane: %w", err)
		}
		file, err := os.OpenFile(filepath.Join(folder, lockName), os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since MkdirAll
		}
		if err != nil {
			return nil, fmt.Errorf("opening the lock of a control plane: %w", err)
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = file.Close() // the file was opened only for its lock
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, errLocked
			}
			return nil, fmt.Errorf("locking %q: %w", file.Name(), err)
		}
		if current(file) {
			return file, nil
		}
		_ = file.Close() // the directory was removed after its lock file was opened
	}
}

// current reports whether an open file is still the file at its path.
func current(file *os.File) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(file.Name())
	return err == nil && os.SameFile(held, there)
}
