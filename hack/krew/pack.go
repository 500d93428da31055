package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checksumsFile is the file with the checksums of a folder's archives.
const checksumsFile = "checksums.txt"

// pack writes an archive for each binary in the folder, and the checksums of the archives. The same binaries produce
// the same bytes.
func pack(folder, license string) error {
	programs, err := filepath.Glob(filepath.Join(folder, program+"-*-*"))
	if err != nil {
		return fmt.Errorf("list programs: %w", err)
	}
	terms, err := os.ReadFile(license)
	if err != nil {
		return fmt.Errorf("read license: %w", err)
	}
	var sums bytes.Buffer
	for _, file := range programs {
		if strings.HasSuffix(file, ".tar.gz") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read program: %w", err)
		}
		name, suffix := strings.CutSuffix(filepath.Base(file), ".exe")
		bin := program
		if suffix {
			bin += ".exe"
		}
		data, err := archive([]member{{bin, content, 0o755}, {"LICENSE", terms, 0o644}})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".tar.gz"), data, 0o644); err != nil { //nolint:gosec // a public file
			return fmt.Errorf("write archive: %w", err)
		}
		fmt.Fprintf(&sums, "%x  %s.tar.gz\n", sha256.Sum256(data), name)
	}
	if sums.Len() == 0 {
		return fmt.Errorf("%s does not contain a binary with a name like %s-OS-ARCH: run make cli-release", folder, program)
	}
	if err := os.WriteFile(filepath.Join(folder, checksumsFile), sums.Bytes(), 0o644); err != nil { //nolint:gosec // a public file
		return fmt.Errorf("write checksums: %w", err)
	}
	return nil
}

// member is a file in an archive.
type member struct {
	name    string
	content []byte
	mode    int64
}

// archive returns the compressed archive of the members, without times or owners.
func archive(members []member) ([]byte, error) {
	var data bytes.Buffer
	compressed := gzip.NewWriter(&data)
	writer := tar.NewWriter(compressed)
	for _, m := range members {
		header := &tar.Header{
			Name: m.name, Mode: m.mode, Size: int64(len(m.content)), Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR,
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("archive %s: %w", m.name, err)
		}
		if _, err := writer.Write(m.content); err != nil {
			return nil, fmt.Errorf("archive %s: %w", m.name, err)
		}
	}
	if err := errors.Join(writer.Close(), compressed.Close()); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return data.Bytes(), nil
}
