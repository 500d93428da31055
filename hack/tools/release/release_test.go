// Package release checks the SBOMs and the provenance of a release with the libraries of their formats. `make
// test-release` makes the release.
package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	spdx "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
	"google.golang.org/protobuf/encoding/protojson"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T) string {
	t.Helper()
	found := os.Getenv("RELEASE_FOLDER")
	if found == "" {
		t.Fatal("$RELEASE_FOLDER is not set: run `make test-release`")
	}
	return found
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	return data
}

// The statement names every file but itself and the signatures, and what the files come from.
func TestProvenance(t *testing.T) {
	out := folder(t)
	statement := &intoto.Statement{}
	check(t, protojson.Unmarshal(read(t, filepath.Join(out, "provenance.json")), statement))
	check(t, statement.Validate())
	text, err := protojson.Marshal(statement.GetPredicate())
	check(t, err)
	predicate := &slsa.Provenance{}
	check(t, protojson.Unmarshal(text, predicate))
	check(t, predicate.Validate())
	got, want := map[string]string{}, map[string]string{}
	for _, each := range statement.GetSubject() {
		got[each.GetName()] = each.GetDigest()["sha256"]
	}
	check(t, fs.WalkDir(os.DirFS(out), ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && file != "provenance.json" && !strings.HasSuffix(file, ".sigstore.json") {
			want[file] = fmt.Sprintf("%x", sha256.Sum256(read(t, filepath.Join(out, file))))
		}
		return err
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subjects (-files +statement):\n%s", diff)
	}
	var sources []string
	for _, each := range predicate.GetBuildDefinition().GetResolvedDependencies() {
		kind, _, _ := strings.Cut(each.GetUri(), ":")
		for algorithm, digest := range each.GetDigest() {
			sources = append(sources, fmt.Sprintf("%s %s:%d", kind, algorithm, len(digest)))
		}
	}
	if diff := cmp.Diff([]string{"git+https gitCommit:40", "oci sha256:64"}, sources); diff != "" {
		t.Errorf("commit and base image (-want +got):\n%s", diff)
	}
}

// The SBOM of an archive lists the modules that the Go toolchain recorded in the program.
func TestSBOMs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder(t), "sbom", "*.spdx.json"))
	check(t, err)
	if len(files) == 0 {
		t.Fatal("the release has no SBOM")
	}
	for _, file := range files {
		document, err := spdx.Read(bytes.NewReader(read(t, file)))
		check(t, err)
		if err := spdxlib.ValidateDocument(document); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		program := strings.TrimSuffix(filepath.Base(file), ".spdx.json")
		if !strings.HasPrefix(program, "kubectl-") {
			continue // of an image, by ko
		}
		info := programInfo(t, read(t, filepath.Join(folder(t), "cli", program+".tar.gz")))
		var got []string
		for _, each := range document.Packages {
			got = append(got, each.PackageName+" "+each.PackageVersion)
		}
		want := []string{"stdlib " + strings.TrimPrefix(info.GoVersion, "go")}
		for _, each := range info.Deps {
			want = append(want, each.Path+" "+each.Version)
		}
		if diff := cmp.Diff(want, got[2:]); diff != "" || len(info.Deps) == 0 { // the archive and the program are first
			t.Errorf("%s (-program +SBOM):\n%s", program, diff)
		}
	}
}

// programInfo returns what the Go toolchain recorded in the program of an archive.
func programInfo(t *testing.T, archive []byte) *buildinfo.BuildInfo {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	check(t, err)
	for files := tar.NewReader(unpacked); ; {
		header, err := files.Next()
		check(t, err)
		if !slices.Contains([]string{"kubectl-llamastack", "kubectl-llamastack.exe"}, header.Name) {
			continue
		}
		program, err := io.ReadAll(files)
		check(t, err)
		info, err := buildinfo.Read(bytes.NewReader(program))
		check(t, err)
		return info
	}
}
