package files

import (
	"fmt"
	"io"
	"os"
)

// maxFile is the maximum size in bytes of a file with a token or certificates.
const maxFile = 1 << 20

// Small reads a file of at most maxFile bytes, or standard input for "-".
func Small(path string, stdin io.Reader) ([]byte, error) {
	data, err := Start(path, stdin, maxFile+1)
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("%q has more than %d bytes; use a smaller file", path, maxFile)
	}
	return data, err
}

// Start reads the first bytes of a file, or of standard input for "-".
func Start(path string, stdin io.Reader, most int64) ([]byte, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return data, nil
}
