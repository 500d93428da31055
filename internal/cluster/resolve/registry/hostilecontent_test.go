package registry

import (
	"fmt"
	"strings"
	"testing"
)

// labeledBy makes an image with one label.
func labeledBy(label, value string) func(*forged) {
	return func(f *forged) { f.image(labels(map[string]string{label: value})) }
}

// tagged stores some bytes as the manifest of the tag.
func tagged(content string) func(*forged) {
	return func(f *forged) {
		f.tag = []byte(content)
		f.add(f.tag)
	}
}

// indexed makes an index with one entry for each platform. All entries have the digest of the same image.
func indexed(platforms ...string) func(*forged) {
	return func(f *forged) {
		single := f.image(labels(map[string]string{LabelBase64: encoded(config)}))
		var list []string
		for _, platform := range platforms {
			list = append(list, strings.TrimSuffix(single, "}")+`,"platform":`+platform+`}`)
		}
		f.tag = []byte(`{"schemaVersion":2,"manifests":[` + strings.Join(list, ",") + `]}`)
		f.add(f.tag)
	}
}

// hostileContent returns manifests, configurations and labels that have the right digest.
func hostileContent(t *testing.T) []hostileAnswer {
	t.Helper()
	const anyDigest = `"sha256:0000000000000000000000000000000000000000000000000000000000000000"`
	return []hostileAnswer{
		{name: "a manifest of schema 1", rule: stays, does: tagged(`{"schemaVersion":1,"name":"team/server","tag":"1","fsLayers":[],"history":[]}`)},
		{name: "a page of HTML instead of a manifest", rule: again, does: tagged("<html>" + forbidden + "</html>")},
		{name: "a page of HTML instead of a manifest, by digest", rule: stays, pinned: true, does: tagged("<html>" + forbidden + "</html>")},
		{name: "a list instead of a manifest", rule: again, does: tagged(`[]`)},
		{name: "an empty manifest", rule: again, does: tagged(``)},
		{name: "null instead of a manifest, by digest", rule: stays, pinned: true, does: tagged(`null`)},
		{name: "a manifest without a configuration", rule: stays, pinned: true, does: tagged(`{"schemaVersion":2,"layers":[]}`)},
		{name: "a manifest that is also an index", rule: stays, pinned: true, does: tagged(`{"schemaVersion":2,"config":{},"manifests":[]}`)},
		{name: "a manifest with deeply nested lists", rule: stays, pinned: true, does: tagged(`{"config":` + strings.Repeat("[", 1<<20))},
		{name: "a digest with an unknown algorithm", rule: stays, pinned: true, does: tagged(`{"config":{"digest":"sha999:00","size":1},"layers":[]}`)},
		{name: "a SHA-512 digest without a blob", rule: refused, pinned: true, does: tagged(`{"config":{"digest":"sha512:` + strings.Repeat("0", 128) + `","size":1},"layers":[]}`)},
		{name: "a configuration without a digest", rule: stays, does: tagged(`{"config":{},"layers":[]}`)},
		{
			name: "a configuration of 10 MB", rule: stays,
			does: tagged(`{"config":{"digest":` + anyDigest + `,"size":10000000},"layers":[]}`),
		},
		{
			name: "a configuration with a negative size", rule: stays,
			does: tagged(`{"config":{"digest":` + anyDigest + `,"size":-1},"layers":[]}`),
		},
		{name: "a configuration that is not JSON", rule: stays, does: func(f *forged) { f.image("config") }},
		{name: "a configuration that is a list", rule: stays, does: func(f *forged) { f.image(`{"config":[]}`) }},
		{name: "labels that are numbers", rule: stays, does: func(f *forged) { f.image(`{"config":{"Labels":{"a":1}}}`) }},
		{name: "too many labels", rule: stays, does: func(f *forged) {
			f.image(`{"config":{"Labels":{` + strings.TrimSuffix(strings.Repeat(`"":"",`, maxListed+1), ",") + `}}}`)
		}},
		{name: "the same label twice", rule: fine, does: func(f *forged) {
			f.image(fmt.Sprintf(`{"config":{"Labels":{%q:"***",%q:%q}}}`, LabelBase64, LabelBase64, encoded(config)))
		}},
		{name: "an empty index", rule: stays, does: tagged(`{"schemaVersion":2,"manifests":[]}`)},
		{
			name: "an index without the platform", rule: stays,
			does: indexed(`{"os":"windows","architecture":"amd64"}`, `{"os":"linux","architecture":"s390x"}`),
		},
		{name: "an index without digests", rule: stays, does: tagged(`{"manifests":[{"platform":{"os":"linux","architecture":"amd64"}}]}`)},
		{name: "an index with numbers as entries", rule: stays, does: tagged(`{"manifests":[1,2,3]}`)},
		{name: "an index with too many images", rule: stays, does: tagged(`{"manifests":[` + strings.TrimSuffix(strings.Repeat(`{"platform":{}},`, maxListed+1), ",") + `]}`)},
		{name: "an index of indexes", rule: stays, does: func(f *forged) {
			indexed(`{"os":"linux","architecture":"amd64"}`)(f)
			f.tag = []byte(`{"manifests":[` + f.add(f.tag) + `]}`)
			f.add(f.tag)
		}},
		{name: "an index of itself, of schema 1", rule: stays, does: func(f *forged) {
			f.tag = []byte(`{"manifests":[` + f.add([]byte(`{"schemaVersion":1}`)) + `]}`)
			f.add(f.tag)
		}},

		{name: "a label that is not base64", rule: stays, does: labeledBy(LabelBase64, "*** "+forbidden)},
		{name: "a label with a NUL byte", rule: stays, does: labeledBy(LabelBase64, encoded(config)+"\x00")},
		{name: "a label that is not UTF-8", rule: stays, does: func(f *forged) { f.image(`{"config":{"Labels":{"` + LabelBase64 + `":"` + "\xff\xfe" + `"}}}`) }},
		{name: "base64 of a configuration that is too large", rule: stays, does: labeledBy(LabelBase64, encoded(strings.Repeat("x", maxConfig+3)))},
		{name: "base64 in several lines", rule: fine, does: labeledBy(LabelBase64, encoded(config)[:8]+"\r\n"+encoded(config)[8:]+"\n")},
		{name: "a default configuration without its label", rule: stays, does: labeledBy(LabelDefaultConfig, strings.Repeat("long", 100))},
		{name: "a layer that is not a digest", rule: stays, does: labeledBy(LabelLayer, "latest")},
		{name: "a layer digest with an unknown algorithm", rule: stays, does: labeledBy(LabelLayer, "md5:00")},
		{name: "a layer without a path", rule: stays, does: labeledBy(LabelLayer, digestOfBytes(nil))},
		{name: "a layer of another image", rule: stays, does: func(f *forged) {
			f.image(labels(map[string]string{LabelLayer: digestOfBytes([]byte("another")), LabelPath: "config.yaml"}),
				[]byte("own"))
		}},
		{name: "a path of two dots", rule: stays, does: func(f *forged) { f.layered("../..", nil) }},
		{name: "a path that leaves the layer", rule: stays, does: func(f *forged) { f.layered("../../etc/passwd", nil) }},
		{name: "a path that is too long", rule: stays, does: func(f *forged) { f.layered(strings.Repeat("long/", 1000), nil) }},
		{name: "a layer that is too large", rule: stays, does: func(f *forged) {
			f.tag = fmt.Appendf(nil, `{"config":%s,"layers":[{"digest":%s,"size":%d}]}`,
				f.add([]byte(labels(map[string]string{LabelLayer: strings.Trim(anyDigest, `"`), LabelPath: "a"}))), anyDigest, maxLayer+1)
		}},
		{name: "too many layers", rule: stays, does: func(f *forged) {
			f.tag = fmt.Appendf(nil, `{"config":%s,"layers":[%s]}`,
				f.add([]byte(labels(map[string]string{LabelLayer: strings.Trim(anyDigest, `"`), LabelPath: "a"}))), strings.TrimSuffix(strings.Repeat("{},", maxListed+1), ","))
		}},
	}
}
