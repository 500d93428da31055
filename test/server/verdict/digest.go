package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Digest returns a digest of texts. Texts with a different division have a different digest.
func Digest(texts ...string) string {
	hash := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(hash, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Files returns a digest of the names and contents of files. The directories of the files are not part of the digest,
// so that several work trees share their verdicts.
func Files(paths ...string) (string, error) {
	var texts []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read a part of a verdict's key: %w", err)
		}
		texts = append(texts, filepath.Base(path), string(content))
	}
	return Digest(texts...), nil
}

// Tree returns a digest of the files below a directory, with their paths relative to the directory. It omits the files
// and directories for which skip returns true, and what Python compiled.
func Tree(dir string, skip func(path string) bool) (string, error) {
	var texts []string
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (skip(path) || entry.Name() == "__pycache__"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || skip(path):
			return nil
		}
		content, err := fs.ReadFile(root, path)
		texts = append(texts, path, string(content))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read a part of a verdict's key: %w", err)
	}
	return Digest(texts...), nil
}
