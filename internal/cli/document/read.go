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
// Text that is not a document is returned with its problem, so that the other files are still read.
func Read(path string, stdin io.Reader) ([]Document, error) {
	if path == "-" {
		return readInput("-", stdin, false)
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

// Generated returns the documents of a text that another program generated. Origin names that program and its input,
// and is the file of the documents.
func Generated(origin string, data []byte) []Document {
	documents := splitDocuments(origin, data, false)
	for i := range documents {
		documents[i].Origin = origin
	}
	return documents
}

func readFile(path string, listed bool) ([]Document, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	defer func() { _ = file.Close() }()
	return readInput(path, file, listed)
}

func readInput(path string, r io.Reader, listed bool) ([]Document, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxManifestBytes {
		problem := fmt.Sprintf("is larger than %d MiB, the limit for a manifest", maxManifestBytes>>20)
		return []Document{{File: path, Listed: listed, Line: 1, Origin: originOf(path, nil), Problem: problem}}, nil
	}
	return splitDocuments(path, data, listed), nil
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
