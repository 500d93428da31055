//go:build release

package release

import (
	"archive/tar"
	"debug/buildinfo"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// built returns the image and its FIPS variant, each with an image for every platform, and their digests.
func built(t *testing.T, out string) (images [][]v1.Image, digests []string) {
	t.Helper()
	for _, folder := range []string{"image", "image-fips"} {
		index, err := layout.ImageIndexFromPath(filepath.Join(out, folder))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := index.IndexManifest()
		if err != nil || len(manifest.Manifests) != 1 {
			t.Fatalf("%s has %v, want one artifact (error %v)", folder, manifest, err)
		}
		artifact := manifest.Manifests[0]
		if artifact.MediaType.IsIndex() {
			if index, err = index.ImageIndex(artifact.Digest); err != nil {
				t.Fatal(err)
			}
		}
		found, err := partial.FindImages(index, func(v1.Descriptor) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		images, digests = append(images, found), append(digests, artifact.Digest.String())
	}
	return images, digests
}

// checkImage checks and starts the image of each platform. The program of a FIPS variant names its module.
func checkImage(t *testing.T, images []v1.Image, want []string, fips string) {
	t.Helper()
	var got []string
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, config.OS+"/"+config.Architecture)
		if labels := config.Config.Labels; config.Config.User != "65532:65532" ||
			!slices.Equal(config.Config.Entrypoint, []string{"/ko-app/manager"}) ||
			labels["org.opencontainers.image.version"] != version || labels["org.opencontainers.image.revision"] == "" {
			t.Errorf("%s has the configuration %+v", got, config.Config)
		}
		files := mutate.Extract(image)
		program := extracted(t, files, "ko-app/manager")
		if err := files.Close(); err != nil {
			t.Error(err)
		}
		checkProgram(t, program, config.Architecture, fips, "--version")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// extracted writes a file of a tar archive to a new folder, and returns its path.
func extracted(t *testing.T, archive io.Reader, file string) string {
	t.Helper()
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("find %s in an archive: %v", file, err)
		}
		if strings.TrimPrefix(header.Name, "/") != file {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), filepath.Base(file))
		write(t, path, data)
		return path
	}
}

// checkProgram starts a program for Linux, with an emulator unless it is for this machine, and looks for the module of
// cryptography in it. With this module, a program fails at its start if a test of the module fails.
func checkProgram(t *testing.T, program, arch, fips string, arguments ...string) {
	t.Helper()
	command := append([]string{program}, arguments...)
	if arch != runtime.GOARCH {
		emulator := "qemu-" + strings.NewReplacer("amd64", "x86_64", "arm64", "aarch64").Replace(arch) + "-static"
		command = append([]string{emulator}, command...)
	}
	// The command for the version of a program without a cluster fails after it printed its own version.
	printed, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	if !strings.Contains(string(printed), version) {
		t.Errorf("%s: error %v, and the output %q, want %s (to emulate: apt-get update && apt-get install qemu-user-static)",
			strings.Join(command, " "), err, printed, version)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, each := range info.Settings {
		settings[each.Key] = each.Value
	}
	if module := settings["GOFIPS140"]; !strings.HasPrefix(module, fips) || (fips == "") != (module == "") ||
		strings.Contains(settings["DefaultGODEBUG"], "fips140=on") != (fips != "") {
		t.Errorf("%s has the settings %v", program, settings)
	}
}
