package realserver

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/verdict"
)

// inputs are the parts on which the verdicts of a release depend, except the request.
type inputs struct {
	// files are the locks of the release and of the tokenizer, and the description of the interpreter.
	files []string
	// programs is the directory of check.py and of the code that fills a request.
	programs string
	// machine describes the machine and the compiler.
	machine []string
}

// inputsOf returns the inputs for a release. bin is the program directory of the release's environment.
func inputsOf(release, bin string) (inputs, error) {
	in := inputs{programs: here(), machine: []string{runtime.GOOS, runtime.GOARCH, runtime.Version()}}
	for _, lock := range []string{"server-" + release + ".txt", "support.txt"} {
		path, _, err := place(lock, "")
		if err != nil {
			return inputs{}, err
		}
		in.files = append(in.files, path)
	}
	in.files = append(in.files, filepath.Join(bin, "..", "pyvenv.cfg"))
	return in, nil
}

// digest returns the digest of the inputs. Tests are not programs.
func (in inputs) digest() (string, error) {
	files := in.files
	for _, pattern := range []string{"*.go", "*.py"} {
		found, err := filepath.Glob(filepath.Join(in.programs, pattern))
		if err != nil {
			return "", fmt.Errorf("list programs: %w", err)
		}
		for _, file := range found {
			if !strings.HasSuffix(file, "_test.go") {
				files = append(files, file)
			}
		}
	}
	digest, err := verdict.Files(files...)
	if err != nil {
		return "", err
	}
	return verdict.Digest(append(in.machine, digest)...), nil
}
