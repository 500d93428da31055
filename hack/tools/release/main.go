// Command release completes the folder of a release, for which hack/release built the images, the archives, the chart
// and the manifests. It adds an SBOM for each archive, the chart as an OCI artifact, checksums and the provenance. With
// a key, it signs them in the formats of cosign. With a registry, it pushes the images, the chart and their signatures.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const (
	product = "llama-stack-k8s-operator"
	project = "https://github.com/llamastack/" + product
)

// A release is what hack/release knows about the folder.
type release struct {
	folder   string // the folder of the release
	version  string // "v0.1.0"
	commit   string
	epoch    int64  // the time of the commit, which is the time of everything
	registry string // of the image, which its signature names
	helm     string // the program
	key      string // a file with a private key, or ""
	push     bool   // whether to push to the registry
}

func main() {
	var r release
	flag.StringVar(&r.folder, "folder", "", "folder of the release")
	flag.StringVar(&r.version, "version", "", "version of the release")
	flag.StringVar(&r.commit, "commit", "", "commit of the release")
	flag.Int64Var(&r.epoch, "epoch", 0, "time of the commit, in seconds since 1970")
	flag.StringVar(&r.registry, "registry", "ghcr.io/llamastack", "registry of the image")
	flag.StringVar(&r.helm, "helm", "helm", "helm program")
	flag.StringVar(&r.key, "key", "", "file with a private key of cosign; its password is in COSIGN_PASSWORD")
	flag.BoolVar(&r.push, "push", false, "push the images, the chart and the signatures to the registry")
	flag.Parse()
	if err := r.complete(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r release) complete(ctx context.Context) error {
	if err := r.writeSBOMs(); err != nil {
		return fmt.Errorf("write the SBOMs: %w", err)
	}
	if err := r.writeLayout(ctx); err != nil {
		return fmt.Errorf("write the OCI layout: %w", err)
	}
	if err := r.writeChecksums(); err != nil {
		return fmt.Errorf("write the checksums: %w", err)
	}
	if err := r.writeProvenance(); err != nil {
		return fmt.Errorf("write the provenance: %w", err)
	}
	if r.key != "" {
		if err := r.sign(ctx); err != nil {
			return fmt.Errorf("sign the release: %w", err)
		}
	}
	if r.push {
		if err := r.pushAll(ctx); err != nil {
			return fmt.Errorf("push the release: %w", err)
		}
	}
	return nil
}

// number is the version of the chart: a semantic version without the letter v.
func (r release) number() string { return strings.TrimPrefix(r.version, "v") }

func (r release) time() time.Time { return time.Unix(r.epoch, 0).UTC() }

func (r release) archives() ([]string, error) {
	return filepath.Glob(filepath.Join(r.folder, "cli", "*.tar.gz"))
}

// write writes a file of the release, which everyone may read.
func (r release) write(file string, data []byte) error {
	path := filepath.Join(r.folder, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // see above
		return err
	}
	return os.WriteFile(path, data, 0o644) //nolint:gosec // see above
}

// writeChecksums writes a file for sha256sum --check. It lists all files that the release has at this time.
func (r release) writeChecksums() error {
	var text strings.Builder
	err := fs.WalkDir(os.DirFS(r.folder), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(r.folder, file))
		fmt.Fprintf(&text, "%s  %s\n", digest(data), file)
		return err
	})
	if err != nil {
		return err
	}
	return r.write("checksums.txt", []byte(text.String()))
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// refName is the annotation with an artifact's name: its repository in the registry, and its tag.
const refName = "org.opencontainers.image.ref.name"

const charts = "charts/" + product

// writeLayout names the images that ko wrote into an OCI layout, and adds the chart.
func (r release) writeLayout(ctx context.Context) error {
	out, err := layout.FromPath(filepath.Join(r.folder, "image"))
	if err != nil {
		return err
	}
	index, err := out.ImageIndex()
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	tags := []string{r.version, r.version + "-fips"}
	if len(manifest.Manifests) != len(tags) {
		return fmt.Errorf("ko wrote %d images, want %d", len(manifest.Manifests), len(tags))
	}
	for n, tag := range tags {
		manifest.Manifests[n].Annotations = map[string]string{refName: product + ":" + tag}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if err := out.WriteFile("index.json", text, 0o644); err != nil {
		return err
	}
	return r.addChart(ctx, out)
}

// addChart adds the chart to a layout. Only helm knows its format, so helm pushes it to a registry in this process.
func (r release) addChart(ctx context.Context, out layout.Path) error {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	archive := filepath.Join(r.folder, product+"-"+r.number()+".tgz")
	// helm records the time of the file as the time of the chart.
	if err := os.Chtimes(archive, r.time(), r.time()); err != nil {
		return err
	}
	push := exec.CommandContext(ctx, r.helm, "push", "--plain-http", archive, "oci://"+host+"/charts")
	push.Env = append(os.Environ(), "TZ=UTC")
	if printed, err := push.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, printed)
	}
	named := charts + ":" + r.number()
	reference, err := name.ParseReference(host + "/" + named)
	if err != nil {
		return err
	}
	chart, err := remote.Image(reference, remote.WithContext(ctx))
	if err != nil {
		return err
	}
	return out.AppendImage(chart, layout.WithAnnotations(map[string]string{refName: named}))
}

// artifacts calls a function for each artifact of a layout: for an image, an index of images, a chart or a signature.
func (r release) artifacts(folder string, each func(v1.Descriptor, remote.Taggable) error) error {
	index, err := layout.ImageIndexFromPath(filepath.Join(r.folder, folder))
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, descriptor := range manifest.Manifests {
		var artifact remote.Taggable
		if descriptor.MediaType.IsIndex() {
			artifact, err = index.ImageIndex(descriptor.Digest)
		} else {
			artifact, err = index.Image(descriptor.Digest)
		}
		if err != nil {
			return err
		}
		if err := each(descriptor, artifact); err != nil {
			return fmt.Errorf("%s: %w", descriptor.Annotations[refName], err)
		}
	}
	return nil
}

// pushAll pushes the artifacts of the layouts. It needs a login of docker or podman for the registry.
func (r release) pushAll(ctx context.Context) error {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	folders := []string{"image"}
	if _, err := os.Stat(filepath.Join(r.folder, "signatures")); err == nil {
		folders = append(folders, "signatures")
	}
	for _, folder := range folders {
		if err := r.artifacts(folder, func(each v1.Descriptor, artifact remote.Taggable) error {
			reference, err := name.ParseReference(r.registry + "/" + each.Annotations[refName])
			if err != nil {
				return err
			}
			return remote.Push(reference, artifact, options...)
		}); err != nil {
			return err
		}
	}
	return nil
}
