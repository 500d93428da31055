package external

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Wheel describes a Python package that a test creates.
type Wheel struct {
	Name, Version string
	// Tag is the compatibility tag of the wheel. If it is empty, the tag is py3-none-any.
	Tag string
	// Python is the range of supported Python versions. Requires is the list of dependencies.
	Python   string
	Requires []string
	// Files contains the contents of each file, keyed by path.
	Files map[string]string
	// Raw contains entries that RECORD does not list. An entry replaces any other entry with the same name.
	Raw []Entry
}

// Entry is an entry in a zip archive.
type Entry struct {
	Name, Content string
	Mode          fs.FileMode
}

// FileName returns the file name of the wheel.
func (w Wheel) FileName() string {
	tag := w.Tag
	if tag == "" {
		tag = "py3-none-any"
	}
	return fmt.Sprintf("%s-%s-%s.whl", strings.ReplaceAll(w.Name, "-", "_"), w.Version, tag)
}

// Path returns the path of the wheel in an image, below /lls-provider.
func (w Wheel) Path() string { return "packages/" + w.FileName() }

// Info returns the name of the directory with the wheel's metadata.
func (w Wheel) Info() string {
	return fmt.Sprintf("%s-%s.dist-info", strings.ReplaceAll(w.Name, "-", "_"), w.Version)
}

// Content returns the contents of the wheel's file.
func (w Wheel) Content() string {
	files := maps.Clone(w.Files)
	if files == nil {
		files = map[string]string{}
	}
	files[w.Info()+"/METADATA"] = w.metadata()
	files[w.Info()+"/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	var record strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	files[w.Info()+"/RECORD"] = record.String() + w.Info() + "/RECORD,,\n"
	var entries []Entry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !slices.ContainsFunc(w.Raw, func(e Entry) bool { return e.Name == name }) {
			entries = append(entries, Entry{Name: name, Content: files[name], Mode: 0o644})
		}
	}
	return Zip(append(entries, w.Raw...))
}

func (w Wheel) metadata() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", w.Name, w.Version)
	if w.Python != "" {
		fmt.Fprintf(&text, "Requires-Python: %s\n", w.Python)
	}
	for _, requirement := range w.Requires {
		fmt.Fprintf(&text, "Requires-Dist: %s\n", requirement)
	}
	return text.String() + "\nMade for a test.\n"
}

// Zip returns an archive of the entries, in order.
func Zip(entries []Entry) string {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, entry := range entries {
		header := &zip.FileHeader{Name: entry.Name, Method: zip.Deflate}
		header.SetMode(entry.Mode)
		file, err := archive.CreateHeader(header)
		if err == nil {
			_, err = file.Write([]byte(entry.Content))
		}
		if err != nil {
			panic(fmt.Sprintf("external: write %q: %v", entry.Name, err)) // writes to a buffer do not fail
		}
	}
	if err := archive.Close(); err != nil {
		panic(fmt.Sprintf("external: close archive: %v", err)) // writes to a buffer do not fail
	}
	return out.String()
}
