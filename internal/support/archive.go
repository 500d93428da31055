package support

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
)

// Write writes files as a compressed archive. The same files give the same bytes: the archive has no times, users or
// groups.
func Write(w io.Writer, files []File) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for _, file := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     file.Name,
			Mode:     0o600,
			Size:     int64(len(file.Data)),
			Format:   tar.FormatUSTAR,
		}
		if len(file.Name) > 100 {
			header.Format = tar.FormatPAX
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("write %s: %w", file.Name, err)
		}
		if _, err := archive.Write(file.Data); err != nil {
			return fmt.Errorf("write %s: %w", file.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if err := compressed.Close(); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}
