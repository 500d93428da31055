package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Manifest returns a manifest from the in-memory repository.
func (b blobs) Manifest(ctx context.Context, identifier string) (io.ReadCloser, error) {
	digest, err := v1.NewHash(identifier)
	if err != nil {
		return nil, err
	}
	return b.Blob(ctx, digest)
}

// Blob returns a blob from the in-memory repository.
func (b blobs) Blob(_ context.Context, digest v1.Hash) (io.ReadCloser, error) {
	content, ok := b[digest]
	if !ok {
		return nil, &answerError{status: 404, code: "BLOB_UNKNOWN"}
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

var amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}

// TestInspect checks that an inspection finds the same content as a read, and all the parts that lead to it. Each part
// contains the digest of the next one.
func TestInspect(t *testing.T) {
	server := serve(t)
	withFile := layer(t, entry{name: "etc/config.yaml", content: config, kind: '0'})
	single := image(t, map[string]string{
		LabelLayer: digestOf(t, withFile), LabelPath: "/etc/config.yaml", LabelConfigVersion: "2", LabelRelease: "0.7.3",
		LabelProvider: "cHJvdmlkZXI=",
	}, withFile)
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add:        single,
		Descriptor: v1.Descriptor{Platform: &amd64},
	},
		mutate.IndexAddendum{
			Add:        image(t, nil),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}},
		})
	configName, err := single.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		ref       string
		digest    string
		platforms []v1.Platform
		platform  string
		kinds     []string
	}{
		"single": {
			server.push(t, "test/single:1", single), digestOf(t, single), nil, "",
			[]string{"manifest", "image configuration", "layer"},
		},
		"index": {server.push(t, "test/index:1", index), digestOf(t, index), []v1.Platform{amd64}, "linux/amd64", []string{"index", "manifest", "image configuration", "layer"}},
	} {
		t.Run(name, func(t *testing.T) {
			reader := server.reader(t, Options{})
			from, ref, err := reader.Open(t.Context(), tc.ref, &Keychain{})
			if err != nil {
				t.Fatal(err)
			}
			platforms, digest, err := Platforms(t.Context(), from, ref.Identifier())
			if err != nil || digest != tc.digest || !cmp.Equal(platforms, tc.platforms) {
				t.Errorf("platforms %v of %s, %v", platforms, digest, err)
			}
			got, err := Inspect(t.Context(), from, ref.Identifier(), amd64)
			if err != nil {
				t.Fatal(err)
			}
			read, err := reader.Read(t.Context(), tc.ref, &Keychain{})
			if err != nil {
				t.Fatal(err)
			}
			read.Provider = "cHJvdmlkZXI="
			if diff := cmp.Diff(*read, got.Image); diff != "" {
				t.Errorf("-read +inspected:\n%s", diff)
			}
			var kinds, digests []string
			for _, part := range got.Parts {
				kinds, digests = append(kinds, part.Kind), append(digests, part.Digest)
				if part.Size <= 0 {
					t.Errorf("part %+v", part)
				}
			}
			if got.Platform != tc.platform || !cmp.Equal(kinds, tc.kinds) {
				t.Errorf("platform %q, parts %q", got.Platform, kinds)
			}
			want := []string{digestOf(t, single), configName.String(), digestOf(t, withFile)}
			if diff := cmp.Diff(want, digests[len(digests)-3:]); diff != "" || digests[0] != tc.digest {
				t.Errorf("digests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInspectErrors checks that content that does not match its digest is rejected, and that content that is too large
// is not read.
func TestInspectErrors(t *testing.T) {
	repository := blobs{}
	layer := repository.add(t, []byte("x"))
	of := repository.labeled(t, map[string]string{LabelBase64: encoded(config)}, layer)
	described, err := json.Marshal(of.Config)
	if err != nil {
		t.Fatal(err)
	}
	content := fmt.Appendf(nil, `{"config":%s,"layers":%s}`, described, of.Layers)
	whole := repository.add(t, content)
	for name, tc := range map[string]struct {
		digest  v1.Hash
		content []byte
		wantErr string
	}{
		"valid": {digest: whole.Digest, content: content},
		"a forged manifest": {
			digest: whole.Digest, content: append(bytes.Clone(content), ' '),
			wantErr: errWrongContent.Error(),
		},
		"a forged config":       {digest: of.Config.Digest, content: []byte("{}"), wantErr: errWrongContent.Error()},
		"a manifest too large":  {digest: whole.Digest, content: []byte(strings.Repeat(" ", maxManifest+1)), wantErr: "the manifest is larger than 4194304 bytes"},
		"no manifest, no image": {digest: whole.Digest, content: nil, wantErr: errWrongContent.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			kept := repository[tc.digest]
			defer func() { repository[tc.digest] = kept }()
			repository[tc.digest] = tc.content
			_, err := Inspect(t.Context(), repository, whole.Digest.String(), amd64)
			if tc.wantErr == "" && err != nil || tc.wantErr != "" && (err == nil || err.Error() != tc.wantErr) {
				t.Errorf("got %v, want %q", err, tc.wantErr)
			}
		})
	}
	if err := ReadBlob(t.Context(), repository, layer.Digest, maxManifest+1, nil); err == nil || Transient(err) {
		t.Errorf("a configuration that is too large: got %v, want an error that is not transient", err)
	}
}

// TestPlatforms checks that each platform in an index is returned once, within a bound.
func TestPlatforms(t *testing.T) {
	index := func(count int) (blobs, string) {
		var entries []string
		for i := range count {
			entries = append(entries, fmt.Sprintf(`{"platform":{"os":"linux","architecture":"a%d"}}`, i/2))
		}
		repository := blobs{}
		of := repository.add(t, []byte(`{"manifests":[{},`+strings.Join(entries, ",")+`]}`))
		return repository, of.Digest.String()
	}
	repository, digest := index(4)
	got, _, err := Platforms(t.Context(), repository, digest)
	if fmt.Sprint(got) != "[linux/amd64 linux/a0 linux/a1]" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	long := blobs{}
	of := long.add(t, []byte(`{"manifests":[{"platform":{"os":"linux","architecture":"a","variant":"`+strings.Repeat("v", 1<<20)+`"}}]}`))
	if got, _, err := Platforms(t.Context(), long, of.Digest.String()); err != nil || len(got[0].String()) > 2*maxShown {
		t.Errorf("a platform with a name of a megabyte: %d bytes, %v", len(got[0].String()), err)
	}
	repository, digest = index(2 * maxPlatforms)
	if got, _, err := Platforms(t.Context(), repository, digest); err == nil {
		t.Errorf("got %d platforms", len(got))
	}
}

// TestLabels checks the labels that Texts returns. They contain a configuration that is smaller than 50 KiB, or the
// location of a configuration of 50 KiB or more. ConfigLabels lists all labels of a configuration.
func TestLabels(t *testing.T) {
	for name, tc := range map[string]struct {
		labels Labels
		want   map[string]string
	}{
		"nothing":  {Labels{}, map[string]string{}},
		"release":  {Labels{Release: "0.7.3"}, map[string]string{"io.llamastack.server.version": "0.7.3"}},
		"provider": {Labels{Provider: []byte("a")}, map[string]string{"io.llamastack.provider": "YQ=="}},
		"small": {
			Labels{Config: []byte("a"), ConfigVersion: "1"},
			map[string]string{"io.llamastack.config.base64": "YQ==", "io.llamastack.config.version": "1"},
		},
		"almost large": {
			Labels{Config: make([]byte, 51199), ConfigVersion: "2"},
			map[string]string{
				"io.llamastack.config.base64":  encoded(strings.Repeat("\x00", 51199)),
				"io.llamastack.config.version": "2",
			},
		},
		"large": {Labels{Config: make([]byte, 51200), ConfigVersion: "2"}, map[string]string{
			"io.llamastack.config.layer": "sha256:1", "io.llamastack.config.path": "/usr/share/llama-stack/config.yaml",
			"io.llamastack.config.version": "2",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.labels.Texts("sha256:1")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for label := range got {
				if strings.Contains(label, ".config.") && !slices.Contains(ConfigLabels, label) {
					t.Errorf("%s is not removed with the other labels of a configuration", label)
				}
			}
		})
	}
}
