package support

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
)

// Write writes files as a compressed archive. Equal files give identical archives, because the archive contains no
// times, users or groups.
func Write(w io.Writer, files []File) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for i := range files {
		if err := files[i].write(archive); err != nil {
			return fmt.Errorf("write %s: %w", files[i].Name, err)
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

func (f *File) write(archive *tar.Writer) error {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.Name, Mode: 0o600, Size: int64(len(f.Data)), Format: tar.FormatUSTAR,
	}
	if len(f.Name) > 100 {
		header.Format = tar.FormatPAX
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(f.Data)
	return err
}
