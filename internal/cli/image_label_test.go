package cli_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	reader "github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// small and large are numbers of bytes to add to a configuration. The command writes a large configuration to a layer.
const small, large = 0, 60 << 10

// The operator's code reads the same configuration from the labels or the layer that the command wrote.
func TestImageLabelRoundTrip(t *testing.T) {
	server := serveImages(t)
	for _, tc := range []struct {
		name          string
		docker, index bool
		more          int
	}{
		{name: "base64", more: small},
		{name: "layer", more: large},
		{name: "base64 with Docker media types", docker: true, more: small},
		{name: "layer with Docker media types", docker: true, more: large},
		{name: "index", index: true, more: small},
		{name: "index with a layer", index: true, more: large},
		{name: "index with a layer and Docker media types", docker: true, index: true, more: large},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := starterConfig(t, tc.more)
			folder := write(t, map[string]string{"config.yaml": config, "provider.yaml": providerFile})
			var image remote.Taggable = serverImage(t, tc.docker, "amd64")
			wantType, architectures := types.OCIManifestSchema1, []string{"amd64"}
			if tc.index {
				image, wantType, architectures = serverIndex(t, tc.docker), types.OCIImageIndex, []string{"amd64", "arm64"}
			}
			written := server.push(t, "team/"+strings.ToLower(strings.ReplaceAll(tc.name, " ", "-"))+":prod", image)
			label := func(args ...string) result {
				return run(t, "", append([]string{
					"image", "label", written, "--insecure", "--config", filepath.Join(folder, "config.yaml"),
					"--release", "0.7.3", "--provider", filepath.Join(folder, "provider.yaml"),
				}, args...)...)
			}
			before := server.get(t, written)
			dry := label()
			if dry.code != 0 || server.writes.Load() != 0 {
				t.Fatalf("exit code %d, %d writes without --push\n%s", dry.code, server.writes.Load(), dry.err)
			}
			got := label("--push")
			got.mustExit(t, 0)
			if dry.out != got.out {
				t.Errorf("output without --push:\n%swith --push:\n%s", dry.out, got.out)
			}
			after := server.get(t, written)
			contains(t, got.out, after.Digest.String(), before.Digest.String())
			if after.MediaType != wantType {
				t.Errorf("media type %s becomes %s, want %s", before.MediaType, after.MediaType, wantType)
			}
			if !tc.index {
				labeled, err := after.Image()
				testutil.Must(t, err)
				testutil.Must(t, validate.Image(labeled))
				if strings.Contains(string(after.Manifest), "docker") {
					t.Errorf("a part has a media type of Docker: %s", after.Manifest)
				}
			}
			for _, architecture := range architectures {
				server.checkLabeled(t, written, architecture, config, after.Digest, tc.more == large)
			}
			writes := server.writes.Load()
			again := label("--push")
			if again.code != 0 || server.writes.Load() != writes ||
				!strings.Contains(again.out, "AFTER   "+after.Digest.String()) {
				t.Errorf("second run: exit code %d, %d writes\n%s%s", again.code, server.writes.Load()-writes, again.out, again.err)
			}
			run(t, "", "image", "inspect", written, "--insecure").exits(t, 0, "inspect")
		})
	}
}

// checkLabeled checks the data that the operator reads from a labeled image.
func (s *imageServer) checkLabeled(t *testing.T, written, architecture, config string, digest v1.Hash, wantLayer bool) {
	t.Helper()
	operator := reader.New(reader.Options{
		Insecure: []string{s.host},
		Platform: v1.Platform{OS: "linux", Architecture: architecture},
	})
	t.Cleanup(operator.Close)
	read, err := operator.Read(t.Context(), written, &reader.Keychain{})
	testutil.Must(t, err)
	if string(read.Config) != config || read.Release != "0.7.3" || read.ConfigVersion != "2" ||
		read.Digest != digest.String() {
		t.Errorf("%s: read %d bytes of %d, release %q, version %q of %s", architecture, len(read.Config), len(config), read.Release, read.ConfigVersion, read.Digest)
	}
	if inLayer := read.ConfigFile != ""; inLayer != wantLayer {
		t.Errorf("%s: configuration of label %s in a layer: got %t, want %t", architecture, read.ConfigLabel, inLayer, wantLayer)
	}
	external, err := operator.ReadProvider(t.Context(), written, &reader.Keychain{})
	if err != nil || external.Provider != base64.StdEncoding.EncodeToString([]byte(providerFile)) {
		t.Errorf("%s: provider %+v, %v", architecture, external, err)
	}
}

// The reference to an image in an OCI layout contains a tag or a digest. The written image replaces the image that has
// the same tag.
func TestImageLayoutNames(t *testing.T) {
	config := write(t, map[string]string{"config.yaml": ownConfig}) + "/config.yaml"
	digest, err := serverImage(t, false, "amd64").Digest()
	testutil.Must(t, err)
	for name, tc := range map[string]struct {
		suffix string
		args   []string
		want   []string // want contains the tags of the images that the command must label
	}{
		"by tag":                      {":a", nil, []string{"a"}},
		"by digest":                   {"@" + digest.String(), nil, []string{"a"}},
		"to a new tag":                {":a", []string{"--tag", "c"}, []string{"c"}},
		"to the tag of another image": {":a", []string{"--tag", "b"}, []string{"b"}},
		"digest and a new tag":        {"@" + digest.String(), []string{"--tag", "c"}, []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := makeLayout(t, map[string]v1.Image{"a": serverImage(t, false, "amd64"), "b": serverImage(t, false, "arm64")},
				nil)
			got := run(t, "", append([]string{"image", "label", "oci:" + path + tc.suffix, "--config", config, "--push"},
				tc.args...)...)
			got.mustExit(t, 0)
			var labeled []string
			index, err := layout.ImageIndexFromPath(path)
			testutil.Must(t, err)
			manifest, err := index.IndexManifest()
			testutil.Must(t, err)
			for _, entry := range manifest.Manifests {
				tag := entry.Annotations["org.opencontainers.image.ref.name"]
				if run(t, "", "image", "inspect", "oci:"+path+":"+tag).code == 0 {
					labeled = append(labeled, tag)
				}
				image, err := index.Image(entry.Digest)
				if err == nil {
					err = validate.Image(image)
				}
				if err != nil {
					t.Errorf("%s: %v", tag, err)
				}
			}
			if !slices.Equal(labeled, tc.want) {
				t.Errorf("images %q have labels, want %q", labeled, tc.want)
			}
		})
	}
}

// The image commands use the credentials of the user's Docker configuration.
func TestImageCredentials(t *testing.T) {
	server := serveImages(t)
	written := server.push(t, "team/server:0.7.3", serverImage(t, false, "amd64"))
	config := write(t, map[string]string{"config.yaml": ownConfig}) + "/config.yaml"
	server.logIn(t, "wrong")
	for _, args := range [][]string{{"inspect", written}, {"label", written, "--config", config, "--push"}} {
		got := run(t, "", append(append([]string{"image"}, args...), "--insecure")...)
		if got.code != 1 || strings.Contains(got.err, "wrong") {
			t.Errorf("%v: exit code %d\n%s", args, got.code, got.err)
		}
		contains(t, got.err, "status 401 Unauthorized", "run docker login")
	}
	server.logIn(t, "s3cret")
	for _, args := range [][]string{{"label", written, "--config", config, "--push"}, {"inspect", written}} {
		if got := run(t, "", append(append([]string{"image"}, args...), "--insecure")...); got.code != 0 || strings.Contains(got.out+got.err, "s3cret") {
			t.Errorf("%v: exit code %d\n%s", args, got.code, got.err)
		}
	}
}

// The command reports each problem, and does not change the tag.
func TestImageLabelRefuses(t *testing.T) {
	server := serveImages(t)
	written := server.push(t, "team/server:0.7.3", serverImage(t, false, "amd64"))
	pinned := server.push(t, "team/pinned:1", serverImage(t, false, "amd64"))
	digest, err := serverImage(t, false, "amd64").Digest()
	testutil.Must(t, err)
	pinned = strings.TrimSuffix(pinned, ":1") + "@" + digest.String()
	nested := server.push(t, "team/nested:1", mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: serverIndex(t, false)}))
	artifact := server.push(t, "team/artifact:1", mutate.ConfigMediaType(serverImage(t, false, "amd64"), "application/vnd.example.chart"))
	nothing := server.push(t, "team/nothing:1", mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: serverImage(t, false, "amd64"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}},
	}))
	folder := write(t, map[string]string{
		"config.yaml": ownConfig, "large.yaml": starterConfig(t, 768<<10), "text.yaml": "no configuration", "empty.yaml": "",
		"version.yaml": "version: 3\n", "tab.yaml": "apis:\n\t- inference\n",
		"type.yaml":     strings.Replace(ownConfig, "config: {}", "config: {allowed_models: 7}", 1),
		"api.yaml":      strings.Replace(ownConfig, "apis: [inference]", "apis: [inference, nothing]", 1),
		"provider.yaml": strings.Replace(providerFile, "remote::custom", "custom", 1),
	})
	file := func(name string) string { return filepath.Join(folder, name) }
	for name, tc := range map[string]struct {
		image string
		args  []string
		code  int
		want  string
	}{
		"missing image": {server.host + "/team/none:1", []string{"--config", file("config.yaml")}, 1, "status 404 Not Found and code NAME_UNKNOWN"},
		"missing tag":   {server.host + "/team/server:none", []string{"--config", file("config.yaml")}, 1, "status 404 Not Found and code MANIFEST_UNKNOWN"},
		"invalid name": {
			"UPPER/case:1", []string{"--config", file("config.yaml")}, 1, `parse image "UPPER/case:1"`,
		},
		"config too large":           {written, []string{"--config", file("large.yaml")}, 1, "large.yaml: is larger than 786432 bytes, which is the limit"},
		"empty config":               {written, []string{"--config", file("empty.yaml")}, 1, "empty.yaml: is empty"},
		"config is not a mapping":    {written, []string{"--config", file("text.yaml")}, 1, "text.yaml: base config: "},
		"config is not valid YAML":   {written, []string{"--config", file("tab.yaml")}, 1, "line 2 is indented with a tab"},
		"unsupported config version": {written, []string{"--config", file("version.yaml")}, 1, "Unsupported config.yaml version 3. Supported versions: 1, 2"},
		"value of a wrong type":      {written, []string{"--config", file("type.yaml"), "--release", "0.7.3"}, 1, "providers.inference[0].config.allowed_models: "},
		"unknown API":                {written, []string{"--config", file("api.yaml")}, 1, `apis[1]: server release 0.7 has no API "nothing"`},
		"provider":                   {written, []string{"--provider", file("provider.yaml")}, 1, `line 6: spec.providerType is "custom", which is not a provider type`},
		"missing file":               {written, []string{"--config", file("none.yaml")}, 2, "none.yaml: no such file"},
		"no label to write":          {written, nil, 2, "nothing to write; set --config, --provider or --release"},
		"release":                    {written, []string{"--release", "9.9"}, 2, `--release: unknown server release "9.9"`},
		"tag":                        {written, []string{"--release", "0.7", "--tag", "a/b"}, 2, `--tag: "a/b" is not a valid tag`},
		"output":                     {written, []string{"--release", "0.7", "-o", "xml"}, 2, `--output: "xml" is not a valid value; use one of`},
		"digest without tag":         {pinned, []string{"--release", "0.7"}, 2, "has a digest and no tag in its name; set --tag to the tag to write"},
		"index within index":         {nested, []string{"--release", "0.7"}, 1, "manifests[0]: is an index within an index"},
		"artifact":                   {artifact, []string{"--release", "0.7"}, 1, `is not a runnable image: its configuration has the media type "application/vnd.example.chart"`},
		"index without images":       {nothing, []string{"--release", "0.7"}, 1, "the index has no image"},
		"missing layout":             {"oci:" + folder, []string{"--release", "0.7"}, 1, "is not an OCI layout: the directory has no index.json; check the path"},
		"no image in layout":         {"oci:" + makeLayout(t, nil, nil), []string{"--release", "0.7"}, 1, "has no image"},
		"two images": {"oci:" + makeLayout(t, map[string]v1.Image{
			"a": serverImage(t, false, "amd64"),
			"b": serverImage(t, true, "amd64"),
		}, nil), []string{"--release", "0.7"}, 1, "has 2 images; add one of these tags or digests to the image name: "},
		"missing tag in layout": {
			"oci:" + makeLayout(t, map[string]v1.Image{"a": serverImage(t, false, "amd64")}, nil) + ":b",
			[]string{"--release", "0.7"},
			1, `has no image "b"; use one of its images: a`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server.writes.Store(0)
			got := run(t, "", append([]string{"image", "label", tc.image, "--insecure", "--push"}, tc.args...)...)
			if got.code != tc.code || got.out != "" || server.writes.Load() != 0 {
				t.Errorf("exit code %d, want %d; %d writes; output %q", got.code, tc.code, server.writes.Load(), got.out)
			}
			contains(t, got.err, tc.want)
		})
	}
}

// If the registry rejects a write, the tag still refers to the original image.
func TestImageLabelReadOnly(t *testing.T) {
	server := serveImages(t)
	for name, tc := range map[string]struct {
		method, path string
		status       int
		want         string
	}{
		"no uploads":   {http.MethodPost, "/blobs/", http.StatusMethodNotAllowed, "write blob sha256:"},
		"no rights":    {http.MethodPost, "/blobs/", http.StatusForbidden, "run docker login as a user with the required permissions"},
		"no manifests": {http.MethodPut, "/manifests/", http.StatusMethodNotAllowed, `:0.7.3": the registry responds with status 405 Method Not Allowed and code UNSUPPORTED`},
	} {
		t.Run(name, func(t *testing.T) {
			server.instead(func(http.ResponseWriter, *http.Request) bool { return false })
			// The repositories in the registry share their blobs, so each case needs a different configuration.
			config := write(t, map[string]string{"config.yaml": ownConfig + "# " + name}) + "/config.yaml"
			written := server.push(t, "team/"+strings.ReplaceAll(name, " ", "-")+":0.7.3", serverImage(t, false, "amd64"))
			server.instead(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != tc.method || !strings.Contains(r.URL.Path, tc.path) {
					return false
				}
				w.WriteHeader(tc.status)
				fmt.Fprint(w, `{"errors":[{"code":"UNSUPPORTED","message":"\u001b[31mhostile"}]}`)
				return true
			})
			got := run(t, "", "image", "label", written, "--insecure", "--push", "--config", config)
			if got.code != 1 || got.out != "" || strings.Contains(got.err, "hostile") {
				t.Errorf("exit code %d, output %q\n%s", got.code, got.out, got.err)
			}
			contains(t, got.err, tc.want, "the image is unchanged")
			run(t, "", "image", "inspect", written, "--insecure").exits(t, 1)
		})
	}
}

// The command can write a single label, even if the other labels of the image are invalid.
func TestImageLabelAlone(t *testing.T) {
	server := serveImages(t)
	provider := write(t, map[string]string{"provider.yaml": providerFile}) + "/provider.yaml"
	for name, tc := range map[string]struct {
		labels map[string]string
		args   []string
		want   []string
	}{
		"release":  {nil, []string{"--release", "0.7"}, []string{reader.LabelRelease, "0.7"}},
		"provider": {nil, []string{"--provider", provider}, []string{reader.LabelProvider, encoded(providerFile)}},
		"provider on an image with an invalid config": {map[string]string{reader.LabelBase64: encoded("version: 3\n")}, []string{"--provider", provider}, []string{reader.LabelProvider, encoded(providerFile)}},
	} {
		t.Run(name, func(t *testing.T) {
			written := server.push(t, "team/"+strings.ReplaceAll(name, " ", "-")+":prod", withLabels(t, tc.labels))
			got := run(t, "", append([]string{"image", "label", written, "--insecure", "--push"}, tc.args...)...)
			got.mustExit(t, 0)
			image, err := server.get(t, written).Image()
			testutil.Must(t, err)
			file, err := image.ConfigFile()
			testutil.Must(t, err)
			if file.Config.Labels[tc.want[0]] != tc.want[1] || len(file.Config.Labels) != len(tc.labels)+1 {
				t.Errorf("labels %q", file.Config.Labels)
			}
		})
	}
}

// For a credential in clear text, the command prints a warning without the value of the credential.
func TestImageLabelClearText(t *testing.T) {
	const canary = "canary-7c1d"
	server := serveImages(t)
	written := server.push(t, "team/server:prod", serverIndex(t, false))
	config := strings.Replace(ownConfig, "config: {}", "config: {api_key: "+canary+"}", 1)
	path := write(t, map[string]string{"config.yaml": config}) + "/config.yaml"
	for _, args := range [][]string{
		{"label", written, "--config", path, "--release", "0.7.3", "--push"},
		{"inspect", written},
		{"inspect", written, "-o", "json"},
	} {
		got := run(t, "", append(append([]string{"image"}, args...), "--insecure")...)
		if got.code != 0 || strings.Contains(got.out+got.err, canary) {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
		if n := strings.Count(got.err, "providers.inference[0].config.api_key: is a credential in clear text"); n != 1 {
			t.Errorf("%v: %d warnings, want 1\n%s", args, n, got.err)
		}
	}
}
