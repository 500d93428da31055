package binaries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock ensures that only one caller at a time creates a directory. The kernel releases the lock when its holder dies,
// so a killed build does not block other builds.
func (c Cache) lock(ctx context.Context, folder string) (unlock func() error, err error) {
	if err := os.MkdirAll(c.Folder, 0o750); err != nil {
		return nil, fmt.Errorf("making the cache folder: %w", err)
	}
	file, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the build lock: %w", err)
	}
	if err := c.wait(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for the build lock %q: %w", file.Name(), err), file.Close())
	}
	return file.Close, nil
}

// wait polls for the lock, because a blocking flock would not return when ctx is done.
func (c Cache) wait(ctx context.Context, file *os.File) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for told := false; ; {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if !told {
			fmt.Fprintf(c.Progress, "Waiting for another process that is building or downloading %s\n",
				filepath.Base(file.Name()))
			told = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
