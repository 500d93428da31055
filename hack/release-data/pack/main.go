// Command pack writes the release data that the product embeds: the archive data.zip.zst, with the facts of each
// release line after the corrections in the overlays, and the file releases.json for the programs that run before the
// server. The same files give the same result.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// These are the paths of the hand-written and extracted files, and of the files that pack writes.
const (
	directory    = "internal/core/stackconfig/release/data"
	archiveFile  = "internal/core/stackconfig/release/data.zip.zst"
	releasesFile = "internal/core/startup/releases.json"
)

// window is larger than all files together, so that what is in several releases is written once.
const window = 8 << 20

func main() {
	if err := pack(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack() error {
	made, err := generate(os.DirFS(directory))
	if err != nil {
		return err
	}
	archive, err := compressed(made.archive)
	if err != nil {
		return err
	}
	if err := os.WriteFile(archiveFile, archive, 0o600); err != nil {
		return err
	}
	return os.WriteFile(releasesFile, made.releases, 0o600)
}

// compressed returns an archive of the files.
func compressed(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return encoder.EncodeAll(out.Bytes(), nil), nil
}
