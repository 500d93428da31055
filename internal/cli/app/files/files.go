package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
)

// Read returns the documents in a file or, for "-", on standard input. For a folder, it returns the documents in every
// manifest (*.yaml, *.yml and *.json) in the folder and its subfolders. For text that is not a document, it returns a
// Document with the problem.
func Read(path string, stdin io.Reader) ([]document.Document, error) {
	if path == "-" {
		return readInput(document.StandardInput, stdin, false)
	}
	files, listed, err := manifestFiles(path)
	if err != nil {
		return nil, err
	}
	var documents []document.Document
	for _, file := range files {
		more, err := readFile(file, listed)
		if err != nil {
			return nil, err
		}
		documents = append(documents, more...)
	}
	return documents, nil
}

func readFile(path string, listed bool) ([]document.Document, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	defer func() { _ = file.Close() }()
	return readInput(path, file, listed)
}

func readInput(path string, r io.Reader, listed bool) ([]document.Document, error) {
	data, err := io.ReadAll(io.LimitReader(r, document.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return document.Parse(path, data, listed), nil
}

// manifestFiles returns the manifests in a folder and its subfolders, sorted by name. It leaves out pipes, devices and
// links to them, because a read can wait forever. For a file, it returns only the path of the file. The result `listed`
// reports whether the path is a folder.
func manifestFiles(path string) (files []string, listed bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("read manifest: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, false, nil
	}
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			return err
		}
		if info, err := os.Stat(file); err != nil || info.Mode().IsRegular() { // readFile reports an error
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("list manifests in %q: %w", path, err)
	}
	return files, true, nil
}

// Replace writes a file. It replaces an existing file only if the new file is complete.
func Replace(name string, content []byte, mode os.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".llamastack-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(mode), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// maxFile is the maximum size in bytes of a file with a token or certificates.
const maxFile = 1 << 20

// Small reads a file of at most maxFile bytes, or standard input for "-".
func Small(path string, stdin io.Reader) ([]byte, error) {
	data, err := Start(path, stdin, maxFile+1)
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("%q has more than %d bytes; use a smaller file", path, maxFile)
	}
	return data, err
}

// Start reads the first bytes of a file, or of standard input for "-".
func Start(path string, stdin io.Reader, most int64) ([]byte, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return data, nil
}
