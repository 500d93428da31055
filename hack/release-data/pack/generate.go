package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// generated are the contents of the files that pack writes. The files in the archive are keyed by name.
type generated struct {
	archive  map[string][]byte
	releases []byte
}

// lineFile matches the name of a line's extracted data. A file named <line>.<name>.json holds a distribution that only
// earlier releases of the line ship.
var lineFile = regexp.MustCompile(`^([0-9]+\.[0-9]+)\.json$`)

// generate reads the extracted data, the overlays and history.yaml.
func generate(data fs.FS) (*generated, error) {
	past, err := readHistory(data)
	if err != nil {
		return nil, err
	}
	lines, err := linesIn(data)
	if err != nil {
		return nil, err
	}
	made := &generated{archive: map[string][]byte{}}
	var releases []*release.Release
	for _, line := range lines {
		file, err := generateLine(data, line, past)
		if err != nil {
			return nil, fmt.Errorf("line %s: %w", line, err)
		}
		r, err := release.Decode(file)
		if err != nil {
			return nil, err
		}
		made.archive[line+".json"] = file
		releases = append(releases, r)
	}
	if made.archive["lines.json"], err = json.Marshal(past.index(lines)); err != nil {
		return nil, err
	}
	made.releases, err = startupFacts(releases)
	return made, err
}

func linesIn(data fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(data, ".")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, entry := range entries {
		if match := lineFile.FindStringSubmatch(entry.Name()); match != nil {
			lines = append(lines, match[1])
		}
	}
	slices.SortFunc(lines, release.Compare)
	return lines, nil
}

// generateLine returns the file of one line.
func generateLine(data fs.FS, line string, past *history) ([]byte, error) {
	extracted, err := fs.ReadFile(data, line+".json")
	if err != nil {
		return nil, err
	}
	doc, err := decode(extracted)
	if err != nil {
		return nil, err
	}
	for _, name := range append(slices.Clone(several), line) {
		o, err := readOverlay(data, name)
		if err != nil {
			return nil, err
		}
		if err := o.apply(doc); err != nil {
			return nil, fmt.Errorf("apply the overlay %q: %w", name, err)
		}
	}
	if err := doc.addEarlier(data); err != nil {
		return nil, err
	}
	doc.Removed = past.removedBefore(line)
	return doc.encode()
}
