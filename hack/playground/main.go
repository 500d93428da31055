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
	file := filepath.Join(folder, "playground.wasm")
	//nolint:noctx // this program never cancels the build
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", file,
		"./web/playground/wasm")
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

// support returns the Go distribution's script for starting a WebAssembly program.
func support() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output() //nolint:noctx // as above
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"))
}

// sample is a manifest that the page offers.
type sample struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Text  string `json:"text"`
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
		one := sample{Name: name, Title: name, Text: string(data)}
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
