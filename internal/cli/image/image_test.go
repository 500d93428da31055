package image

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// store is an in-memory repository.
type store map[string][]byte

func (s store) add(content string) string {
	digest := digestOf([]byte(content)).String()
	s[digest] = []byte(content)
	return digest
}

// Manifest returns a manifest by its digest.
func (s store) Manifest(_ context.Context, identifier string) (io.ReadCloser, error) {
	content, ok := s[identifier]
	if !ok {
		return nil, errors.New("no " + identifier)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Blob returns a blob by its digest.
func (s store) Blob(ctx context.Context, digest v1.Hash) (io.ReadCloser, error) {
	return s.Manifest(ctx, digest.String())
}

// keep stores the changed content, and returns the digest of the image.
func (s store) keep(changed *Labeled) string {
	for i := range changed.Blobs {
		s.add(string(changed.Blobs[i].Content))
	}
	for i := range changed.Manifests {
		s.add(string(changed.Manifests[i].Content))
	}
	return s.add(string(changed.Top.Content))
}

// image adds an image with a configuration and layers. The layers need not exist.
func (s store) image(config string, layers ...string) string {
	of := s.add(config)
	return s.add(fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":%d},"layers":[%s]}`,
		of, len(config), strings.Join(layers, ",")))
}

func layerEntry(digest string) string {
	return fmt.Sprintf(`{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":%q,"size":1}`, digest)
}

var (
	small = &registry.Labels{Config: []byte("version: 2\n"), ConfigVersion: "2", Release: "0.7.3"}
	large = &registry.Labels{Config: bytes.Repeat([]byte("# large\n"), registry.MaxInline/8), ConfigVersion: "2"}
)

// Label does not change unknown fields in a manifest or a configuration.
func TestLabelKeepsUnknownFields(t *testing.T) {
	s := store{}
	config := `{"unknown":{"b":1e400,"a":"<&>"},"config":{"Labels":{"own":"label","io.llamastack.config.layer":"old","io.llamastack.config.path":"old"},` +
		`"StopTimeout":7},"rootfs":{"type":"layers","diff_ids":[]},"history":[{"created_by":"none","empty_layer":true}]}`
	digest := s.add(config)
	of := s.add(fmt.Sprintf(`{"schemaVersion":2,"artifactType":"x","annotations":{"a":"b"},"subject":{"digest":"c"},"layers":[],`+
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":%d,"data":"e30=","annotations":{"d":"e"}}}`, digest, len(config)))
	changed, err := Label(t.Context(), s, of, small)
	testutil.Must(t, err)
	wantConfig := `{"config":{"Labels":{"io.llamastack.config.base64":"dmVyc2lvbjogMgo=","io.llamastack.config.version":"2",` +
		`"io.llamastack.server.version":"0.7.3","own":"label"},"StopTimeout":7},"history":[{"created_by":"none","empty_layer":true}],` +
		`"rootfs":{"type":"layers","diff_ids":[]},"unknown":{"b":1e400,"a":"<&>"}}`
	wantTop := fmt.Sprintf(`{"annotations":{"a":"b"},"artifactType":"x","config":{"annotations":{"d":"e"},"data":%q,"digest":%q,`+
		`"mediaType":"application/vnd.oci.image.config.v1+json","size":%d},"layers":[],"schemaVersion":2,"subject":{"digest":"c"}}`,
		base64.StdEncoding.EncodeToString([]byte(wantConfig)), digestOf([]byte(wantConfig)), len(wantConfig))
	if diff := cmp.Diff([]string{wantConfig, wantTop}, []string{
		string(changed.Blobs[0].Content),
		string(changed.Top.Content),
	}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := Label(t.Context(), s, s.keep(changed), small)
	if err != nil || again.Top.Digest != changed.Top.Digest {
		t.Errorf("labeling the image again gives digest %s, want %s: %v", again.Top.Digest, changed.Top.Digest, err)
	}
}

// A manifest contains the configuration of the image if the configuration is small. The operator then needs one fewer
// request. The media types are OCI media types, because a Docker manifest cannot contain the configuration.
func TestLabelEmbedsTheConfiguration(t *testing.T) {
	const oci, docker = "application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"
	few, many := `{"rootfs":{"diff_ids":[]}}`, `{"a":"`+strings.Repeat("a", registry.MaxEmbedded)+`","rootfs":{"diff_ids":[]}}`
	for name, tc := range map[string]struct {
		config, mediaType string
		want              bool
	}{
		"small":      {few, oci, true},
		"large":      {many, oci, false},
		"for Docker": {few, docker, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := store{}
			of := s.add(fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":%q,"digest":%q,"size":%d},"layers":[]}`,
				tc.mediaType, s.add(tc.config), len(tc.config)))
			changed, err := Label(t.Context(), s, of, small)
			testutil.Must(t, err)
			made, err := v1.ParseManifest(bytes.NewReader(changed.Top.Content))
			testutil.Must(t, err)
			if made.Config.MediaType != oci {
				t.Errorf("the configuration has the media type %q, want %q", made.Config.MediaType, oci)
			}
			var want []byte
			if tc.want {
				want = changed.Blobs[0].Content
			}
			if !bytes.Equal(made.Config.Data, want) {
				t.Errorf("the manifest contains %q, want %q", made.Config.Data, want)
			}
		})
	}
}

// Label removes a layer only if Label created the layer. Label created the layer if layerOf returns an equal layer for
// the configuration.
func TestLabelKeepsForeignLayers(t *testing.T) {
	ours := layerOf(large.Config)
	foreign := store{}.add("foreign")
	const history = `"history":[{},{"empty_layer":true},{}],`
	for name, tc := range map[string]struct {
		labels string
		layers []string
		want   int
	}{
		"layer of this command":                    {fmt.Sprintf(`"io.llamastack.config.layer":%q,"io.llamastack.config.path":"/usr/share/llama-stack/config.yaml"`, digestOf(ours.packed)), []string{foreign, digestOf(ours.packed).String()}, 1},
		"layer of this command without a label":    {"", []string{foreign, digestOf(ours.packed).String()}, 2},
		"layer with another path":                  {fmt.Sprintf(`"io.llamastack.config.layer":%q,"io.llamastack.config.path":"/config.yaml"`, foreign), []string{foreign, foreign}, 2},
		"layer of another tool with the same path": {fmt.Sprintf(`"io.llamastack.config.layer":%q,"io.llamastack.config.path":"/usr/share/llama-stack/config.yaml"`, digestOf(ours.plain)), []string{foreign, digestOf(ours.plain).String()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := store{}
			s.add(string(ours.packed))
			s.add(string(ours.plain))
			entries := []string{layerEntry(tc.layers[0]), strings.Replace(layerEntry(tc.layers[1]), `"size":1}`,
				fmt.Sprintf(`"size":%d}`, len(s[tc.layers[1]])), 1)}
			of := s.image(`{`+history+`"rootfs":{"diff_ids":["a","b"]},"config":{"Labels":{`+tc.labels+`}}}`, entries...)
			changed, err := Label(t.Context(), s, of, small)
			testutil.Must(t, err)
			var manifest v1.Manifest
			var config struct{ History []v1.History }
			testutil.Must(t, errors.Join(json.Unmarshal(changed.Top.Content, &manifest),
				json.Unmarshal(changed.Blobs[0].Content, &config)))
			if len(manifest.Layers) != tc.want || len(config.History) != tc.want+1 || !config.History[1].EmptyLayer {
				t.Errorf("%d layers, want %d; history %+v", len(manifest.Layers), tc.want, config.History)
			}
		})
	}
}

// Label sets labels on the runnable images in an index. It does not change other entries, such as attestations and
// charts.
func TestLabelKeepsOtherEntries(t *testing.T) {
	s := store{}
	of := s.image(`{"a":1}`)
	chart := s.add(`{"config":{"mediaType":"application/vnd.example.chart","digest":"` + digestOf(nil).String() + `","size":0}}`)
	entry := func(digest, mediaType, more string) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d%s}`, mediaType, digest, len(s[digest]), more)
	}
	const manifest = "application/vnd.oci.image.manifest.v1+json"
	kept := []string{
		entry(of, manifest, `,"platform":{"os":"linux","architecture":"arm64"},"annotations":{"vnd.docker.reference.type":"attestation-manifest"}`),
		entry(of, manifest, `,"platform":{"os":"unknown","architecture":"unknown"}`),
		entry(of, "application/vnd.example.other", ""),
		entry(chart, manifest, ""),
	}
	index := s.add(`{"manifests":[` + strings.Join(append(kept, entry(of, manifest, ""), entry(of, manifest, "")), ",") + `]}`)
	changed, err := Label(t.Context(), s, index, small)
	testutil.Must(t, err)
	var top struct{ Manifests []v1.Descriptor }
	testutil.Must(t, json.Unmarshal(changed.Top.Content, &top))
	for i, found := range top.Manifests {
		if same := found.Digest.String() == of || found.Digest.String() == chart; same != (i < len(kept)) {
			t.Errorf("manifests[%d]: digest unchanged is %t, want %t", i, same, !same)
		}
	}
	if changed.Kept != len(kept) || len(changed.Images) != 2 || len(changed.Blobs) != 1 {
		t.Errorf("got %d unchanged entries, %d labeled images and %d blobs", changed.Kept, len(changed.Images), len(changed.Blobs))
	}
}

// Verify rejects an image if the operator could not read the labels, or would read different values.
func TestVerify(t *testing.T) {
	s := store{}
	const one = `{"rootfs":{"diff_ids":["a"]}}`
	foreign := store{}.add("foreign")
	layers := make([]string, 10_000)
	ids := make([]string, len(layers))
	for i := range layers {
		layers[i], ids[i] = layerEntry(foreign), `"a"`
	}
	many := s.image(`{"rootfs":{"diff_ids":[`+strings.Join(ids, ",")+`]}}`, layers...)
	twice := s.image(`{"config":{"Labels":{"io.llamastack.config.base64":"e30="},"labels":{"io.llamastack.config.base64":"e30="}},"rootfs":{"diff_ids":["a"]}}`, layerEntry(foreign))
	release := s.image(`{"config":{"labels":{"io.llamastack.server.version":"0.8"}}}`)
	provider := s.image(`{"config":{"labels":{"io.llamastack.provider":"eA=="}}}`)
	for name, tc := range map[string]struct {
		image  string
		wanted *registry.Labels
		want   string
	}{
		"one layer, configuration in a layer":            {s.image(one, layerEntry(foreign)), large, ""},
		"many layers, configuration in a label":          {many, small, ""},
		"too many layers":                                {many, large, "the image has more than 10000 manifests, layers or labels"},
		"configuration under the keys Labels and labels": {twice, small, "the operator would read a different configuration; build the image again"},
		"another release under the key labels":           {release, &registry.Labels{Release: "0.7"}, `the operator would read the release "0.8"; build the image again`},
		"another provider under the key labels":          {provider, &registry.Labels{Provider: []byte("y")}, "the operator would read different provider metadata; build the image again"},
	} {
		t.Run(name, func(t *testing.T) {
			changed, err := Label(t.Context(), s, tc.image, tc.wanted)
			testutil.Must(t, err)
			read, err := Verify(t.Context(), s, changed, tc.wanted)
			if tc.want == "" && (err != nil || len(read) != 1 || !bytes.Equal(read[0].Config, tc.wanted.Config)) {
				t.Errorf("read %+v, %v", read, err)
			}
			if tc.want != "" && (err == nil || !strings.HasSuffix(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestLabelRefuses(t *testing.T) {
	s := store{}
	forged := s.image(`{"forged":true}`)
	s[digestOf([]byte(`{"forged":true}`)).String()] = []byte(`{"forged":null}`)
	for name, tc := range map[string]struct{ image, want string }{
		"not an object":                           {s.add("[]"), "is not a JSON object"},
		"neither manifest nor index":              {s.add("{}"), "is neither an image manifest nor an index"},
		"missing manifest":                        {digestOf([]byte("none")).String(), "no sha256:"},
		"manifests is not a list":                 {s.add(`{"manifests":{}}`), "manifests is not a list"},
		"manifests is a list of strings":          {s.add(`{"manifests":[""]}`), "manifests is not a list"},
		"config is not an object":                 {s.add(`{"config":""}`), "config is not a descriptor"},
		"config has an invalid digest":            {s.add(`{"config":{"digest":"x"}}`), "config is not a descriptor"},
		"content with another digest":             {forged, "the registry returns content that does not match the requested digest"},
		"configuration is a string":               {s.image(`""`), "the configuration of the image is not a JSON object"},
		"config of the configuration is a string": {s.image(`{"config":""}`), "config is not a JSON object"},
		"labels are numbers":                      {s.image(`{"config":{"Labels":{"a":1}}}`), "the labels of the image are not strings"},
		"layers without diff_ids":                 {s.image(`{}`, layerEntry(digestOf(nil).String())), "the number of layers in the image (1) differs from the number of entries in rootfs.diff_ids (0); build the image again"},
		"diff_ids is not a list":                  {s.image(`{"rootfs":{"diff_ids":{}}}`), "diff_ids is not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			if changed, err := Label(t.Context(), s, tc.image, large); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v, want %q", changed, err, tc.want)
			}
		})
	}
}

// The same configuration must always produce the same layer; otherwise, relabeling would add a second layer.
func TestLayer(t *testing.T) {
	const want = "sha256:653e01fb9992c9fa91dae022a8cbf3f38fa1090910cbd0070f8a97345f35e734"
	if got := digestOf(layerOf(large.Config).packed).String(); got != want {
		t.Errorf("layer %s, want %s", got, want)
	}
}

func TestCheckTag(t *testing.T) {
	for tag, valid := range map[string]bool{
		"prod": true, "0.7.3-labeled_1": true, strings.Repeat("a", 128): true,
		"": false, "a/b": false, "a:b": false, "a@b": false, "ä": false, strings.Repeat("a", 129): false,
	} {
		if err := CheckTag(tag); (err == nil) != valid {
			t.Errorf("%q: %v", tag, err)
		}
	}
}

// FuzzLabel labels arbitrary registry content. Label and Verify must not panic. If Verify accepts the labeled image,
// Label must not change the image again.
func FuzzLabel(f *testing.F) {
	f.Add(`{"rootfs":{"diff_ids":["a"]},"history":[{}],"config":{"Labels":{"a":"b"}}}`, layerEntry("sha256:"+strings.Repeat("0", 64)))
	f.Add(`{"config":null,"rootfs":null}`, "")
	f.Add(`{"config":{"Labels":null},"history":null}`, "{}")
	f.Fuzz(func(t *testing.T, config, layers string) {
		for _, wanted := range []*registry.Labels{small, large} {
			s := store{}
			first, err := Label(t.Context(), s, s.image(config, layers), wanted)
			if err != nil {
				continue
			}
			if _, err := Verify(t.Context(), s, first, wanted); err != nil {
				continue
			}
			second, err := Label(t.Context(), s, s.keep(first), wanted)
			if err != nil || second.Top.Digest != first.Top.Digest {
				t.Errorf("labeling the image again gives another image: %v\n%s\n%s", err, first.Top.Content, second.Top.Content)
			}
		}
	})
}
