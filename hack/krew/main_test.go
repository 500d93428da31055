package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// platforms returns the platforms for which `make cli-release` builds kubectl-llamastack.
func platforms(t *testing.T) []string {
	t.Helper()
	makefile, err := os.ReadFile("../mk/release.mk")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^CLI_RELEASE_PLATFORMS \?= (.*)$`).FindSubmatch(makefile)
	if match == nil {
		t.Fatal("hack/mk/release.mk has no CLI_RELEASE_PLATFORMS")
	}
	return strings.Fields(string(match[1]))
}

// The manifest contains a platform for each binary that `make cli-release` builds, with the checksum of the binary's archive.
func TestManifest(t *testing.T) {
	folder := t.TempDir()
	want := platforms(t)
	for _, wanted := range want {
		name := program + "-" + strings.ReplaceAll(wanted, "/", "-")
		if strings.HasPrefix(wanted, "windows/") {
			name += ".exe"
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte("program of "+wanted), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var before []byte
	for range 2 {
		if err := run([]string{"-pack", folder, "-license", "../../LICENSE"}); err != nil {
			t.Fatal(err)
		}
		sums, err := os.ReadFile(filepath.Join(folder, checksumsFile))
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(before, sums) {
			t.Errorf("two runs differ:\n%s\n%s", before, sums)
		}
		before = sums
	}
	output := filepath.Join(folder, "krew", "llamastack.yaml")
	err := run([]string{
		"-version", "v1.2.3", "-url", "https://example.com/v1.2.3/", "-checksums", filepath.Join(folder, checksumsFile), "-output", output,
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var got plugin
	if err := yaml.UnmarshalStrict(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "Plugin" || got.Metadata["name"] != "llamastack" || got.Spec.Version != "v1.2.3" ||
		len(got.Spec.ShortDescription) > 50 {
		t.Errorf("manifest %+v", got)
	}
	checkPlatforms(t, got.Spec.Platforms, want, string(before))
	checkArchive(t, filepath.Join(folder, program+"-windows-arm64.tar.gz"))
}

func checkPlatforms(t *testing.T, got []platform, want []string, sums string) {
	t.Helper()
	var names []string
	for _, p := range got {
		names = append(names, p.Selector.MatchLabels["os"]+"/"+p.Selector.MatchLabels["arch"])
		file := strings.TrimPrefix(p.URI, "https://example.com/v1.2.3/")
		if !strings.Contains(sums, p.SHA256+"  "+file+"\n") {
			t.Errorf("%s has the checksum %s, and the archives have\n%s", file, p.SHA256, sums)
		}
		if strings.HasSuffix(p.Bin, ".exe") != strings.Contains(p.URI, "windows") {
			t.Errorf("%s has the program %s", p.URI, p.Bin)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			if !slices.Contains(names, system+"/"+arch) {
				t.Errorf("no platform %s/%s", system, arch)
			}
		}
	}
}

func checkArchive(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	uncompressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for reader := tar.NewReader(uncompressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
	if diff := cmp.Diff([]string{program + ".exe", "LICENSE"}, names); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestManifestErrors(t *testing.T) {
	good := strings.Repeat("a", 64) + "  " + program + "-linux-amd64.tar.gz\n"
	for _, tc := range []struct{ version, url, sums, want string }{
		{"1.2.3", "https://a", good, `-version: "1.2.3" is not a version that krew accepts`},
		{"v1.2.3", "http://a", good, `-url: "http://a" is not an HTTPS URL`},
		{"v1.2.3", "https://a", "abc  x.tar.gz\n", `-checksums: "abc  x.tar.gz" is not a line of sha256sum`},
		{"v1.2.3", "https://a", "", "-checksums: the file is empty"},
	} {
		if _, err := manifest(tc.version, tc.url, []byte(tc.sums)); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
}
