package realserver

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/verdict"
)

// pipeline lists the packages whose code reaches a server only through the objects that they return. A test case that
// calls them has these objects among the parts of its key.
var pipeline = []string{
	"internal/core/distribution", "internal/core/intent", "internal/core/plan", "internal/core/render",
	"internal/core/stackconfig",
	"internal/core/stackconfig/secretvalue", "internal/core/validate",
}

// data is the directory of the releases' data. Package release embeds releaseData, in which all of it is packed.
const (
	data        = "internal/core/stackconfig/release/data"
	releaseData = data + ".zip.zst"
)

// newCode returns the code of this module without the pipeline and the data of the releases. The record of passed lines
// only decides which releases run.
func newCode(root string) *verdict.Code {
	return verdict.NewCode(root, module, func(path string) bool {
		return path == data || path == releaseData || filepath.Base(path) == filepath.Base(recordFile()) ||
			slices.Contains(pipeline, path)
	})
}

// digestOfProgram returns the digest of the packages, the interpreter and the data of a release. bin is the program
// directory of its environment.
func digestOfProgram(root, version, bin string, data fs.FS) (string, error) {
	lock, err := join(filepath.Join(root, "test", "server", "environment"), "server-"+version+".txt")
	if err != nil {
		return "", fmt.Errorf("read packages: %w", err)
	}
	interpreter, err := os.ReadFile(filepath.Join(bin, "..", "pyvenv.cfg"))
	if err != nil {
		return "", fmt.Errorf("read interpreter: %w", err)
	}
	line := version[:strings.LastIndex(version, ".")]
	facts, err := fs.ReadFile(data, line+".json")
	if err != nil {
		return "", fmt.Errorf("read release data: %w", err)
	}
	return verdict.Digest(lock, string(interpreter), string(facts)), nil
}

// unpack returns the files in the packed data of the releases.
func unpack(path string) (fs.FS, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read release data: %w", err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, fmt.Errorf("unpack release data: %w", err)
	}
	defer decoder.Close()
	content, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack release data: %w", err)
	}
	return zip.NewReader(bytes.NewReader(content), int64(len(content)))
}
