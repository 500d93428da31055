// Command pack writes the release data that the product embeds: the archive data.zip, with the facts of each release
// line after the corrections in the overlays, and the file releases.json for the programs that run before the server.
// The same files give the same result.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
)

// These are the paths of the hand-written and extracted files, and of the files that pack writes.
const (
	directory    = "internal/core/stackconfig/release/data"
	archiveFile  = "internal/core/stackconfig/release/data.zip"
	releasesFile = "internal/core/startup/releases.json"
)

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
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(made.archive)) {
		file, err := archive.Create(name)
		if err != nil {
			return err
		}
		if _, err := file.Write(made.archive[name]); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(archiveFile, out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(releasesFile, made.releases, 0o600)
}
