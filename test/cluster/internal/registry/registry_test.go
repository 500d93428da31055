package registry

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pull pushes an image of a program and pulls it again.
func pull(t *testing.T, program string) v1.Image {
	t.Helper()
	r, err := Serve(t.Context(), "127.0.0.1:0", filepath.Join(t.TempDir(), "registry"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	reference := r.Address() + "/tool:1"
	if err := PushProgram(t.Context(), reference, program); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(reference, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(tag, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestPushedProgramCanBePulled(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(program, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	image := pull(t, program)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if entry := config.Config.Entrypoint; !slices.Equal(entry, []string{"/tool"}) || config.Config.User != unprivileged || config.OS != "linux" {
		t.Errorf("the image is %+v on %q", config.Config, config.OS)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers (%v), want 1", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	files := list(t, content)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, []string{"tmp/", "tool"}) {
		t.Errorf("the image contains %q", got)
	}
	if files["tool"] != "-rwxr-xr-x program" || !strings.HasPrefix(files["tmp/"], "dtrwxrwxrwx") {
		t.Errorf("the image contains %q", files)
	}
}

// list returns each entry of an archive with its mode and contents.
func list(t *testing.T, content io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = header.FileInfo().Mode().String() + " " + string(data)
	}
}

func TestPushOfNothing(t *testing.T) {
	err := PushProgram(t.Context(), "127.0.0.1:1/tool:1", filepath.Join(t.TempDir(), "absent"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want an error about the file", err)
	}
}
