package release

import (
	"archive/zip"
	"bytes"
	_ "embed" // for data.zip
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sync"
)

//go:embed data.zip
var packed []byte

// embedded returns the files in the directory data. `make generate` packs them, because they are ten times as large as
// the archive.
var embedded = sync.OnceValue(func() fs.FS {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic(fmt.Sprintf("release: the data is not an archive: %v", err)) // a test checks the archive
	}
	return archive
})

// directory lists the embedded release lines, each with a function that loads the data of the line once.
type directory struct {
	lines []string
	load  map[string]func() (*Release, error)
}

// lineFile matches the name of a line's data file. A file named <line>.<name>.json holds a distribution that only
// earlier releases of the line ship.
var lineFile = regexp.MustCompile(`^([0-9]+\.[0-9]+)\.json$`)

// files returns the embedded lines. There is one line for each <line>.json.
var files = sync.OnceValue(func() directory {
	dir := directory{load: map[string]func() (*Release, error){}}
	entries, err := fs.ReadDir(embedded(), "data")
	if err != nil {
		panic(fmt.Sprintf("release: the data is not embedded: %v", err))
	}
	for _, entry := range entries {
		match := lineFile.FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		line := match[1]
		dir.lines = append(dir.lines, line)
		dir.load[line] = sync.OnceValues(func() (*Release, error) { return load(line) })
	}
	slices.SortFunc(dir.lines, Compare)
	return dir
})

// load reads, corrects and builds the data of a line.
func load(line string) (*Release, error) {
	data, err := fs.ReadFile(embedded(), "data/"+line+".json")
	if err != nil {
		return nil, fmt.Errorf("read release data: %w", err)
	}
	return Parse(data)
}

// Parse returns the Release for a data file in the format that `make release-data` writes, with the embedded overlays
// and history.yaml applied to its line. Every embedded line is loaded in the same way.
func Parse(data []byte) (*Release, error) {
	doc, err := decode(data)
	if err != nil {
		return nil, err
	}
	overlays, err := severalOverlays()
	if err != nil {
		return nil, err
	}
	own, err := readOverlay(doc.Line)
	if err != nil {
		return nil, err
	}
	r, err := corrected(doc, append(slices.Clone(overlays), own)...)
	if err != nil {
		return nil, err
	}
	r.Removed = removedBefore(r.Line)
	return r, addEarlier(r)
}

// addEarlier adds the distributions that only earlier releases of the line ship.
func addEarlier(r *Release) error {
	names, err := fs.Glob(embedded(), "data/"+r.Line+".*.json")
	if err != nil {
		return fmt.Errorf("find earlier distributions: %w", err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(embedded(), name)
		if err != nil {
			return fmt.Errorf("read earlier distribution: %w", err)
		}
		var doc earlierDocument
		if err := decodeStrict(data, &doc); err != nil {
			return fmt.Errorf("decode earlier distribution %q: %w", name, err)
		}
		for distribution, row := range doc.Distributions {
			d := newDistribution(distribution, row.Variables, r.Runtime.DataDir, row.Config)
			d.Last = doc.Version
			r.distributions[distribution] = d
		}
	}
	return nil
}

// corrected returns the Release for a document and its overlays.
func corrected(doc *document, overlays ...*overlay) (*Release, error) {
	for _, o := range overlays {
		if err := o.apply(doc); err != nil {
			return nil, fmt.Errorf("apply overlay: %w", err)
		}
	}
	r, err := build(doc)
	if err != nil {
		return nil, fmt.Errorf("build release %s: %w", doc.Line, err)
	}
	return r, nil
}

// mustLoad returns the data of an embedded line. A test loads every line, so the data is valid.
func mustLoad(line string) *Release {
	r, err := files().load[line]()
	if err != nil {
		panic(fmt.Sprintf("release: embedded data of line %s: %v", line, err))
	}
	return r
}
