package realserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// ProviderWheels returns the directory with the wheels of a published external provider, and of its dependencies that
// the server release does not contain. If the directory does not exist, the function downloads the wheels. An image of
// the provider would contain the same wheels. The directory is in the user's cache directory, and its name contains the
// digest of the lock file.
func ProviderWheels(ctx context.Context, provider, release string) (string, error) {
	lock := fmt.Sprintf("provider-%s-%s.txt", provider, release)
	bin, err := install(ctx, "wheels.txt", "wheels", "--no-deps")
	if err != nil {
		return "", err
	}
	path, dir, err := place(lock, "provider-"+provider+"-"+release)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".")
	if err != nil {
		return "", fmt.Errorf("create a directory for the wheels: %w", err)
	}
	defer os.RemoveAll(work)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "python"), "-m", "pip", "download", "--quiet", "--no-deps",
		"--only-binary=:all:", "--require-hashes", "--requirement", path, "--dest", work)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("download the wheels for %q: %w", lock, err)
	}
	// If another test has already created the directory, it contains the same wheels.
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("move the wheels for %q into the cache: %w", lock, err)
	}
	return dir, nil
}
