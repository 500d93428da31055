package realserver

import (
	"path/filepath"
	"runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/verdict"
)

// inputs are the parts on which the verdicts of a release depend, except the request.
type inputs struct {
	// files are the locks of the release and of the tokenizer, and the description of the interpreter.
	files []string
	// root is the directory of the module with check.py and the code of the checker.
	root string
	// machine describes the machine and the compiler.
	machine []string
}

// inputsOf returns the inputs for a release. bin is the program directory of the release's environment.
func inputsOf(release, bin string) (inputs, error) {
	in := inputs{root: worktree.Root(), machine: []string{runtime.GOOS, runtime.GOARCH, runtime.Version()}}
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

// digest returns the digest of the inputs.
func (in inputs) digest() (string, error) {
	code, err := newCode(in.root).Digest("test/server/realserver", "NewChecker")
	if err != nil {
		return "", err
	}
	files, err := verdict.Files(in.files...)
	if err != nil {
		return "", err
	}
	return verdict.Digest(append(in.machine, code, files)...), nil
}
