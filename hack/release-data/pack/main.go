// Command pack writes the archive of release data that the product embeds. The same files give the same archive.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

const directory = "internal/stackconfig/release"

func main() {
	if err := pack(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack() error {
	if err := os.Chdir(directory); err != nil {
		return err
	}
	files, err := filepath.Glob("data/*") // sorted
	if err != nil {
		return err
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := archive.Create(name)
		if err != nil {
			return err
		}
		if _, err := file.Write(data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile("data.zip", out.Bytes(), 0o600)
}
