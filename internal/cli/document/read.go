package document

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxManifestBytes bounds one input. etcd rejects objects a fraction of this size, so a larger file is a mistake, such
// as a model or an archive, and is reported as such.
const maxManifestBytes = 16 << 20

// Read returns the documents of a file, of every manifest in a folder (*.yaml, *.yml and *.json) or, for "-", of stdin.
func Read(path string, stdin io.Reader) ([]Document, error) {
	if path == "-" {
		data, err := readBounded(stdin, "standard input")
		if err != nil {
			return nil, err
		}
		return splitDocuments("-", data, false)
	}
	files, listed, err := manifestFiles(path)
	if err != nil {
		return nil, err
	}
	var documents []Document
	for _, file := range files {
		more, err := readFile(file, listed)
		if err != nil {
			return nil, err
		}
		documents = append(documents, more...)
	}
	return documents, nil
}

func readFile(path string, listed bool) ([]Document, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := readBounded(file, path)
	if err != nil {
		return nil, err
	}
	return splitDocuments(path, data, listed)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxManifestBytes {
		return nil, fmt.Errorf("read %s: the file is larger than %d MiB, the limit for a "+
			"manifest", name, maxManifestBytes>>20)
	}
	return data, nil
}

// manifestFiles returns a folder's manifests in the order of their names, or the path itself. listed reports whether
// the path is a folder.
func manifestFiles(path string) (files []string, listed bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("read manifest: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, false, nil
	}
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("list manifests in %q: %w", path, err)
	}
	return files, true, nil
}
