package testutil

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Manifest returns the manifest that installs the operator from a work tree. kustomization is a folder of its folder
// config, such as default or overlays/openshift.
func Manifest(ctx context.Context, root, kustomization string) ([]byte, error) {
	config := filepath.Join(root, "config")
	// Only kubectl uses the content. Because the test reads the files, `go test` runs it again after a change to a file.
	err := fs.WalkDir(os.DirFS(config), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			_, err = os.ReadFile(filepath.Join(config, name))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the parts of the manifest: %w", err)
	}
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, Kubectl(), "kustomize", filepath.Join(config, kustomization))
	command.Stderr = &stderr
	manifest, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("build the manifest of %s: %w: %s", kustomization, err, stderr.Bytes())
	}
	return manifest, nil
}

// ManifestFile writes the manifest that installs the operator from this work tree into a temporary file, and returns
// the path of the file. See Manifest.
func ManifestFile(t testing.TB, kustomization string) string {
	t.Helper()
	manifest, err := Manifest(t.Context(), Root(), kustomization)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "install.yaml")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
