package release

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed data
var embedded embed.FS

// directory lists the embedded lines with what loads each of them once.
type directory struct {
	lines []string
	load  map[string]func() (*Release, error)
}

// files finds the embedded lines: every <line>.json has one.
var files = sync.OnceValue(func() directory {
	dir := directory{load: map[string]func() (*Release, error){}}
	entries, err := embedded.ReadDir("data")
	if err != nil {
		panic(fmt.Sprintf("release: the data is not embedded: %v", err)) // cannot happen in a program that was built
	}
	for _, entry := range entries {
		line, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok {
			continue
		}
		dir.lines = append(dir.lines, line)
		dir.load[line] = sync.OnceValues(func() (*Release, error) { return load(line) })
	}
	slices.SortFunc(dir.lines, compareLines)
	return dir
})

// load reads, corrects and builds the data of a line.
func load(line string) (*Release, error) {
	data, err := embedded.ReadFile(path.Join("data", line+".json"))
	if err != nil {
		return nil, fmt.Errorf("read release data: %w", err)
	}
	corrections, err := embedded.ReadFile(path.Join("data", line+".overlay.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read overlay: %w", err)
	}
	return parse(data, corrections)
}

// parse makes a Release of a data file and its overlay.
func parse(data, corrections []byte) (*Release, error) {
	doc, err := decode(data)
	if err != nil {
		return nil, err
	}
	o, err := decodeOverlay(corrections)
	if err != nil {
		return nil, err
	}
	if err := o.apply(doc); err != nil {
		return nil, fmt.Errorf("apply overlay: %w", err)
	}
	r, err := build(doc)
	if err != nil {
		return nil, fmt.Errorf("build release %s: %w", doc.Line, err)
	}
	return r, nil
}

// mustLoad returns the data of an embedded line. Bad data cannot be met at run time: a test loads every line.
func mustLoad(line string) *Release {
	r, err := files().load[line]()
	if err != nil {
		panic(fmt.Sprintf("release: embedded data of line %s: %v", line, err))
	}
	return r
}

// compareLines orders lines by number: 0.9 before 0.10.
func compareLines(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, _ := strconv.Atoi(x)
		n, _ := strconv.Atoi(y)
		return cmp.Compare(m, n)
	})
}
