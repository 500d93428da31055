package realserver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// place returns the path of a lock file and the directory of its environment. If the user's cache directory does not
// contain the lock file, place writes it there.
func place(lock, name string) (path, dir string, err error) {
	content, err := join(filepath.Join(here(), "..", "environment"), lock)
	if err != nil {
		return "", "", fmt.Errorf("read lock: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", fmt.Errorf("find the cache directory: %w", err)
	}
	cache = filepath.Join(cache, "llama-stack-k8s-operator", "server")
	digest := fmt.Sprintf("%.6x", sha256.Sum256([]byte(content)))
	path = filepath.Join(cache, "locks", digest, lock)
	if err := writeOnce(path, content); err != nil {
		return "", "", fmt.Errorf("write lock: %w", err)
	}
	return path, filepath.Join(cache, name+"-"+digest), nil
}

// join returns a lock file for pip: the list of packages with this name in a directory, with the hashes of each package
// from hashes.txt. It returns an error for a package without hashes, because pip would install any file of it.
func join(dir, list string) (string, error) {
	hashes, err := readHashes(filepath.Join(dir, "hashes.txt"))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, list))
	if err != nil {
		return "", err
	}
	var lock strings.Builder
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		lock.WriteString(line)
		if line != "" && line[0] != ' ' && line[0] != '#' {
			version := strings.Fields(line)[0]
			if len(hashes[version]) == 0 {
				return "", fmt.Errorf("hashes.txt has no hash of %s in %s", version, list)
			}
			for _, hash := range hashes[version] {
				lock.WriteString(" \\\n    --hash=sha256:" + hash)
			}
		}
		lock.WriteByte('\n')
	}
	return lock.String(), nil
}

// readHashes returns the hashes of each version of a package.
func readHashes(path string) (map[string][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	hashes, version := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		if hash, ok := strings.CutPrefix(line, " "); ok {
			hashes[version] = append(hashes[version], strings.TrimSpace(hash))
		} else {
			version = strings.TrimSpace(line)
		}
	}
	return hashes, nil
}

// writeOnce writes a file whose path identifies its content. A process never reads a part of it.
func writeOnce(path, content string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	work, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = work.WriteString(content)
	if err := errors.Join(err, work.Close()); err != nil {
		return err
	}
	return os.Rename(work.Name(), path)
}
