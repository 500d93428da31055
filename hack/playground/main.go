// Command playground writes the playground page into a folder: its static files, the WebAssembly program, and the
// samples. The same sources produce the same bytes.
//
//	go run ./hack/playground FOLDER
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	static  = "web/playground/site"
	samples = "config/samples"
	program = "playground.wasm.gz"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: playground FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// write replaces the files of the page in a folder.
func write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a web server of another user may read the page
		return err
	}
	files := map[string][]byte{}
	var err error
	if files[program], err = compile(); err != nil {
		return err
	}
	if files["wasm_exec.js"], err = support(); err != nil {
		return err
	}
	if files["samples.json"], err = readSamples(); err != nil {
		return err
	}
	if err := readStatic(files); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "wrote %s; the size of the binary is %.1f MB\n", folder, float64(len(files[program]))/1e6)
	return nil
}

// compile returns the compressed program.
func compile() ([]byte, error) {
	folder, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := replaceClient(folder); err != nil {
		return nil, fmt.Errorf("replace %s: %w", client, err)
	}
	file := filepath.Join(folder, "playground.wasm")
	//nolint:noctx // this program never cancels the build
	build := exec.Command("go", "build", "-modfile", filepath.Join(folder, "go.mod"), "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid=", "-o", file, "./web/playground/wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build the binary: %w", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	writer, err := gzip.NewWriterLevel(&page, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(data); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return page.Bytes(), nil
}

// client is the module with the types for apply. One of its files, which the pipeline does not use, imports a client
// that contains all kinds of Kubernetes. They would be a quarter of the binary.
const (
	client       = "k8s.io/client-go"
	clientFolder = "applyconfigurations"
	clientFile   = "meta/v1/unstructured.go"
)

// replaceClient writes a go.mod into the folder that replaces the client with a copy without that file.
func replaceClient(folder string) error {
	//nolint:noctx // as above
	found, err := exec.Command("go", "list", "-f", "{{.Module.Dir}}", client+"/"+clientFolder+"/meta/v1").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	module, reduced := strings.TrimSpace(string(found)), filepath.Join(folder, "client")
	copied := filepath.Join(reduced, clientFolder)
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(module, clientFolder))); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(copied, clientFile)); err != nil {
		return err
	}
	for from, to := range map[string]string{
		filepath.Join(module, "go.mod"): filepath.Join(reduced, "go.mod"),
		"go.mod":                        filepath.Join(folder, "go.mod"), "go.sum": filepath.Join(folder, "go.sum"),
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return err
		}
	}
	//nolint:noctx // as above
	return exec.Command("go", "mod", "edit", "-replace", client+"="+reduced, filepath.Join(folder, "go.mod")).Run()
}

// support returns the Go distribution's script for starting a WebAssembly program.
func support() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output() //nolint:noctx // as above
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"))
}

// sample is a manifest that the page offers. About is the first sentence of the comment at its beginning.
type sample struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	Text  string `json:"text"`
}

// comment matches the comment at the beginning of a manifest, and its first sentence.
var comment = regexp.MustCompile(`^((?:#[^\n]*\n)+)\n*`)

// newSample returns a sample that begins with the stack, and not with a comment or a Secret.
func newSample(name, text string) sample {
	one := sample{Name: name, Title: strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")}
	head := comment.FindString(text)
	about, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(head, "\n#", ""), "# ", ""), ".")
	one.About = about + "."
	var first, others []string
	for document := range strings.SplitSeq(strings.TrimPrefix(text, head), "\n---\n") {
		document = strings.TrimSuffix(document, "\n")
		if _, stack, found := strings.Cut(document, "# yaml-language-server: "); found {
			_, document, _ = strings.Cut(stack, "\n")
			first = append(first, document)
		} else {
			others = append(others, document)
		}
	}
	one.Text = strings.Join(append(first, others...), "\n---\n") + "\n"
	return one
}

// readSamples returns the samples as JSON, the simplest one first.
func readSamples() ([]byte, error) {
	files, err := filepath.Glob(samples + "/*.yaml")
	if err != nil {
		return nil, err
	}
	var list []sample
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".yaml"), "v1alpha2-")
		one := newSample(name, string(data))
		if name == "simple" {
			list = append([]sample{one}, list...)
		} else {
			list = append(list, one)
		}
	}
	return json.Marshal(list)
}

func readStatic(files map[string][]byte) error {
	return fs.WalkDir(os.DirFS(static), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(static, name))
		return err
	})
}
