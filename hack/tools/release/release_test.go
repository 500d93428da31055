package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/elliptic"
	"encoding/hex"
	"flag"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/sigstore/cosign/v3/pkg/cosign"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	spdx "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
	"google.golang.org/protobuf/encoding/protojson"
)

var (
	folder = flag.String("folder", "", "check this release, and not a small one of the test")
	public = flag.String("public", "", "file with the public key of the release in -folder")
	helm   = flag.String("helm", "../../../.cache/bin/helm", "helm program")
)

// small writes a folder as hack/release leaves it: an archive with the program of this test, a chart and two images.
func small(t *testing.T, key string) release {
	t.Helper()
	r := release{
		folder: t.TempDir(), version: "v1.2.3", commit: strings.Repeat("a", 40), epoch: 1767322985,
		registry: "ghcr.io/llamastack", helm: *helm, key: key,
	}
	program, err := os.Executable()
	check(t, err)
	data, err := os.ReadFile(program)
	check(t, err)
	check(t, r.write("cli/kubectl-llamastack-linux-amd64.tar.gz", packed(t, "kubectl-llamastack", data)))
	chart := "apiVersion: v2\nname: " + product + "\nversion: 1.2.3\n"
	check(t, r.write(product+"-1.2.3.tgz", packed(t, product+"/Chart.yaml", []byte(chart))))
	check(t, r.write("install.yaml", []byte("kind: Namespace\n")))
	out, err := layout.Write(filepath.Join(r.folder, "image"), empty.Index)
	check(t, err)
	check(t, out.AppendImage(mutate.MediaType(empty.Image, types.OCIManifestSchema1)))
	check(t, out.AppendIndex(mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: empty.Image})))
	return r
}

func packed(t *testing.T, file string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
	check(t, err)
	archive := tar.NewWriter(compressed)
	check(t, archive.WriteHeader(&tar.Header{Name: file, Mode: 0o755, Size: int64(len(data))}))
	_, err = archive.Write(data)
	check(t, err)
	check(t, archive.Close())
	check(t, compressed.Close())
	return out.Bytes()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keys writes a new pair of keys as cosign does, with the password of the environment.
func keys(t *testing.T, curve elliptic.Curve) (private, public string) {
	t.Helper()
	pair, verifier, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(curve, password)
	check(t, err)
	private, public = filepath.Join(t.TempDir(), "cosign.key"), filepath.Join(t.TempDir(), "cosign.pub")
	check(t, os.WriteFile(private, pair, 0o600))
	check(t, os.WriteFile(public, verifier, 0o600))
	return private, public
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	return data
}

// sums returns the SHA-256 of each file in a folder, except for signatures and the files that name none.
func sums(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	check(t, fs.WalkDir(os.DirFS(folder), ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(file, "signatures/") && !strings.HasSuffix(file, suffix) {
			found[file] = digest(read(t, filepath.Join(folder, file)))
		}
		return err
	}))
	return found
}

func TestSameBytes(t *testing.T) {
	t.Setenv("COSIGN_PASSWORD", "secret")
	private, _ := keys(t, elliptic.P256())
	first, second := small(t, private), small(t, "")
	check(t, first.complete(t.Context()))
	check(t, second.complete(t.Context()))
	if diff := cmp.Diff(sums(t, first.folder), sums(t, second.folder)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

func TestKeyIsRefused(t *testing.T) {
	t.Setenv("COSIGN_PASSWORD", "secret")
	long, _ := keys(t, elliptic.P384())
	locked, _ := keys(t, elliptic.P256())
	for name, tc := range map[string]struct{ file, password, want string }{
		"other curve":    {long, "secret", "not an ECDSA key on P-256"},
		"other password": {locked, "another", "read the key"},
		"not a key":      {"doc.go", "", "read the key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("COSIGN_PASSWORD", tc.password)
			if _, err := load(tc.file); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want %q", err, tc.want)
			}
		})
	}
}

// The test verifies a release with the functions that the commands of cosign and helm call.
func TestRelease(t *testing.T) {
	made, public := release{folder: *folder, helm: *helm}, *public
	if made.folder == "" {
		t.Setenv("COSIGN_PASSWORD", "secret")
		private, verifier := keys(t, elliptic.P256())
		made, public = small(t, private), verifier
		check(t, made.complete(t.Context()))
	}
	_, stranger := keys(t, elliptic.P256())
	t.Run("files", func(t *testing.T) { checkFiles(t, made, options(t, public), options(t, stranger)) })
	t.Run("artifacts", func(t *testing.T) { checkArtifacts(t, made, options(t, public), options(t, stranger)) })
	t.Run("provenance", func(t *testing.T) { checkProvenance(t, made) })
	t.Run("SBOMs", func(t *testing.T) { checkSBOMs(t, made) })
}

// options are those of cosign verify --key FILE --insecure-ignore-tlog.
func options(t *testing.T, public string) *cosign.CheckOpts {
	t.Helper()
	verifier, err := signature.LoadVerifierFromPEMFile(public, crypto.SHA256)
	check(t, err)
	return &cosign.CheckOpts{SigVerifier: verifier, IgnoreTlog: true, ClaimVerifier: cosign.SimpleClaimVerifier}
}

// checkFiles checks that the checksums, each archive and the chart have a signature of the key.
func checkFiles(t *testing.T, made release, key, stranger *cosign.CheckOpts) {
	t.Helper()
	archives, err := made.archives()
	check(t, err)
	files, err := filepath.Glob(filepath.Join(made.folder, "*.tgz"))
	check(t, err)
	files = append(append(files, archives...), filepath.Join(made.folder, "checksums.txt"))
	if len(files) < 3 {
		t.Fatalf("the release has only %v", files)
	}
	for _, file := range files {
		signed, err := bundle.LoadJSONFromPath(file + suffix)
		check(t, err)
		content := verify.WithArtifact(bytes.NewReader(read(t, file)))
		if _, err := cosign.VerifyNewBundle(t.Context(), key, content, signed); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		content = verify.WithArtifact(bytes.NewReader(read(t, file)))
		if _, err := cosign.VerifyNewBundle(t.Context(), stranger, content, signed); err == nil {
			t.Errorf("%s verifies with another key", filepath.Base(file))
		}
		changed := verify.WithArtifact(bytes.NewReader(append(read(t, file), 'x')))
		if _, err := cosign.VerifyNewBundle(t.Context(), key, changed, signed); err == nil {
			t.Errorf("%s verifies after a change", filepath.Base(file))
		}
	}
	statement, err := bundle.LoadJSONFromPath(filepath.Join(made.folder, provenance+suffix))
	check(t, err)
	for file, sum := range sums(t, made.folder) {
		if file == provenance {
			continue
		}
		hash, err := hex.DecodeString(sum)
		check(t, err)
		content := verify.WithArtifactDigest("sha256", hash)
		if _, err := cosign.VerifyNewBundle(t.Context(), key, content, statement); err != nil {
			t.Errorf("the provenance of %s: %v", file, err)
		}
	}
}

// checkArtifacts pushes the artifacts to a registry, verifies their signatures, and pulls the chart.
func checkArtifacts(t *testing.T, made release, key, stranger *cosign.CheckOpts) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	made.registry = strings.TrimPrefix(server.URL, "http://")
	check(t, made.pushAll(t.Context()))
	var names []string
	check(t, made.artifacts("image", func(each v1.Descriptor, _ remote.Taggable) error {
		names = append(names, each.Annotations[refName])
		reference, err := name.ParseReference(made.registry + "/" + each.Annotations[refName])
		check(t, err)
		if found, _, err := cosign.VerifyImageSignatures(t.Context(), reference, key); err != nil || len(found) != 1 {
			t.Errorf("%s has %d signatures, error %v", reference, len(found), err)
		}
		if _, _, err := cosign.VerifyImageSignatures(t.Context(), reference, stranger); err == nil {
			t.Errorf("%s verifies with another key", reference)
		}
		return nil
	}))
	chart := filepath.Join(made.folder, "*.tgz")
	files, err := filepath.Glob(chart)
	if err != nil || len(files) != 1 {
		t.Fatalf("the charts are %v, error %v", files, err)
	}
	number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(files[0]), product+"-"), ".tgz")
	if diff := cmp.Diff([]string{
		product + ":v" + number, product + ":v" + number + "-fips", charts + ":" + number,
	}, names); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	folder := t.TempDir()
	pull := exec.CommandContext(t.Context(), made.helm, "pull", "--plain-http", "oci://"+made.registry+"/"+charts,
		"--version", number, "--destination", folder)
	if printed, err := pull.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	if !bytes.Equal(read(t, filepath.Join(folder, filepath.Base(files[0]))), read(t, files[0])) {
		t.Error("helm pulls another chart")
	}
}

func checkProvenance(t *testing.T, made release) {
	t.Helper()
	statement := &intoto.Statement{}
	check(t, protojson.Unmarshal(read(t, filepath.Join(made.folder, provenance)), statement))
	check(t, statement.Validate())
	text, err := protojson.Marshal(statement.GetPredicate())
	check(t, err)
	predicate := &slsa.Provenance{}
	check(t, protojson.Unmarshal(text, predicate))
	check(t, predicate.Validate())
	got := map[string]string{}
	for _, each := range statement.GetSubject() {
		got[each.GetName()] = each.GetDigest()["sha256"]
	}
	want := sums(t, made.folder)
	delete(want, provenance)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subjects (-files +statement):\n%s", diff)
	}
}

// checkSBOMs checks all SBOMs, and that those of the archives list the modules of the program.
func checkSBOMs(t *testing.T, made release) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(made.folder, "sbom", "*.spdx.json"))
	check(t, err)
	for _, file := range files {
		document, err := spdx.Read(bytes.NewReader(read(t, file)))
		if err == nil {
			err = spdxlib.ValidateDocument(document)
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	archives, err := made.archives()
	check(t, err)
	for _, archive := range archives {
		info, err := programInfo(read(t, archive))
		check(t, err)
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz") + ".spdx.json"
		document, err := spdx.Read(bytes.NewReader(read(t, filepath.Join(made.folder, "sbom", name))))
		check(t, err)
		var got, want []string
		for _, each := range document.Packages {
			got = append(got, each.PackageName+" "+each.PackageVersion)
		}
		for _, each := range info.Deps {
			want = append(want, each.Path+" "+each.Version)
		}
		want = append(want, "stdlib "+strings.TrimPrefix(info.GoVersion, "go"))
		slices.Sort(want)
		got = slices.Sorted(slices.Values(got[2:])) // without the archive and the program
		if diff := cmp.Diff(want, got); diff != "" || len(info.Deps) == 0 {
			t.Errorf("%s (-program +SBOM):\n%s", name, diff)
		}
	}
}
