package release

import (
	"archive/zip"
	"bytes"
	_ "embed" // for data.zip.zst
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"
)

// packed is one zstd stream around all files, because the releases have most of their text in common.
//
//go:embed data.zip.zst
var packed []byte

// unpacked is the last archive, until the garbage collector takes it: a program that loads one line often loads others.
var (
	unpackedMu sync.Mutex
	unpacked   weak.Pointer[zip.Reader]
)

// embedded returns the files in data.zip.zst: <line>.json with a Document for each release line, and lines.json with an
// Index.
func embedded() fs.FS {
	unpackedMu.Lock()
	defer unpackedMu.Unlock()
	if archive := unpacked.Value(); archive != nil {
		return archive
	}
	archive, err := unpack(packed)
	if err != nil {
		panic(fmt.Sprintf("release: the data is not an archive: %v", err)) // a test checks the archive
	}
	unpacked = weak.Make(archive)
	return archive
}

func unpack(packed []byte) (*zip.Reader, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	data, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(data), int64(len(data)))
}

// Index contains the facts that span several releases.
type Index struct {
	// Lines are the release lines with data, ascending.
	Lines []string `json:"lines"`
	// DefaultLine is the release line that runs when the user does not name one.
	DefaultLine string `json:"defaultLine"`
	// Offered are the lines that users may request, ascending. Tests show that the servers of these lines start with
	// generated configs.
	Offered []string `json:"offered"`
	// APIs are the names of the APIs of all releases, sorted.
	APIs []string `json:"apis"`
}

// directory is the content of data.zip.zst.
type directory struct {
	Index

	// load contains a function for each line, which loads the data of the line once.
	load map[string]func() (*Release, error)
}

var files = sync.OnceValue(func() directory {
	dir := directory{load: map[string]func() (*Release, error){}}
	data, err := fs.ReadFile(embedded(), "lines.json")
	if err == nil {
		err = json.Unmarshal(data, &dir.Index)
	}
	if err != nil {
		panic(fmt.Sprintf("release: embedded lines: %v", err)) // a test checks the file
	}
	for _, line := range dir.Lines {
		dir.load[line] = sync.OnceValues(func() (*Release, error) { return load(line) })
	}
	return dir
})

func load(line string) (*Release, error) {
	data, err := fs.ReadFile(embedded(), line+".json")
	if err != nil {
		return nil, fmt.Errorf("read release data: %w", err)
	}
	return Decode(data)
}

// mustLoad returns the data of an embedded line. A test loads every line, so the data is valid.
func mustLoad(line string) *Release {
	r, err := files().load[line]()
	if err != nil {
		panic(fmt.Sprintf("release: embedded data of line %s: %v", line, err))
	}
	return r
}
