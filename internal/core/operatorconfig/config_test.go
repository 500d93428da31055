package operatorconfig_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

func configMap(data map[string]string) *corev1.ConfigMap { return &corev1.ConfigMap{Data: data} }

// read reads a ConfigMap with one key, and returns the messages of the errors.
func read(key, text string) (operatorconfig.Config, []string) {
	config, errs := operatorconfig.Read(configMap(map[string]string{key: text}), operatorconfig.Config{})
	return config, messages(errs)
}

// messages returns the field and the detail of each error.
func messages(errs field.ErrorList) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Field+": "+err.Detail)
	}
	return texts
}

func TestReadImages(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want distribution.Overrides
	}{
		"names and versions": {
			text: "starter: mirror.example.com:5000/starter:0.7.1\nstarter@0.7.3: \"a/b@sha256:" + strings.Repeat("0", 64) + "\"\nrh-dev: quay.io/x/rh-dev:1\n",
			want: distribution.Overrides{
				"starter": "mirror.example.com:5000/starter:0.7.1", "starter@0.7.3": "a/b@sha256:" + strings.Repeat("0", 64),
				"rh-dev": "quay.io/x/rh-dev:1",
			},
		},
		"comments only": {text: "# starter: x\n"},
		"empty":         {text: ""},
		"null":          {text: "null"},
		"no entries":    {text: "{}", want: distribution.Overrides{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := read(operatorconfig.KeyImageOverrides, tc.text)
			if len(errs) > 0 {
				t.Error(errs)
			}
			if diff := cmp.Diff(tc.want, got.Images); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
			if got.Unknown(operatorconfig.KeyImageOverrides) {
				t.Error("a valid key counts as unknown")
			}
		})
	}
}

// Each error belongs to its key and names the path and the problem. An invalid key keeps its previous value.
func TestReadErrors(t *testing.T) {
	const key = operatorconfig.KeyImageOverrides
	good, _ := read(key, "starter: a:1")
	for name, tc := range map[string]struct {
		data map[string]string
		want []string
	}{
		"not YAML":                   {map[string]string{key: "starter: [a"}, []string{"image-overrides: is not YAML: yaml: line 1: did not find expected ',' or ']'"}},
		"two documents":              {map[string]string{key: "a: b:1\n---\nc: d:1"}, []string{"image-overrides: contains more than one YAML document; keep one document"}},
		"a list":                     {map[string]string{key: "- starter"}, []string{"image-overrides: line 1: must be a mapping, got a list"}},
		"a text":                     {map[string]string{key: "starter"}, []string{`image-overrides: line 1: must be a mapping, got the text "starter"`}},
		"no image":                   {map[string]string{key: "starter:"}, []string{"image-overrides[starter]: line 1: must be text, got an empty value"}},
		"a number":                   {map[string]string{key: "starter: 1.5"}, []string{`image-overrides[starter]: line 1: must be text, got the number "1.5"; put it in quotes`}},
		"a bool":                     {map[string]string{key: "starter: true"}, []string{`image-overrides[starter]: line 1: must be text, got the boolean "true"; put it in quotes`}},
		"nested":                     {map[string]string{key: "starter: {image: a}"}, []string{"image-overrides[starter]: line 1: must be text, got a mapping"}},
		"an alias":                   {map[string]string{key: "a: &x b:1\nc: *x"}, []string{"image-overrides[c]: line 2: must be text, got an alias"}},
		"a merge key":                {map[string]string{key: "<<: {a: b}"}, []string{"image-overrides: line 1: a key must be text"}},
		"a list key":                 {map[string]string{key: "[a]: b"}, []string{"image-overrides: line 1: a key must be text"}},
		"twice":                      {map[string]string{key: "a: b:1\na: c:1"}, []string{`image-overrides[a]: line 2: duplicate key "a"`}},
		"upper case":                 {map[string]string{key: "starter: Quay.io/Team/X"}, []string{`image-overrides[starter]: "Quay.io/Team/X" is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case`}},
		"a scheme":                   {map[string]string{key: "starter: https://quay.io/x"}, []string{`image-overrides[starter]: "https://quay.io/x" is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case`}},
		"a name":                     {map[string]string{key: "my starter: a:1"}, []string{`image-overrides[my starter]: "my starter" is not a valid distribution name: use at most 63 letters, digits, "-", "_" and ".", and begin and end with a letter or digit`}},
		"a version":                  {map[string]string{key: "starter@latest: a:1"}, []string{`image-overrides[starter@latest]: version "latest": unknown server release "latest"; known release lines: `}},
		"a key with a similar name":  {map[string]string{"image-override": ""}, []string{`image-override: unknown key; did you mean "image-overrides"?`}},
		"a key with no similar name": {map[string]string{"zzz": ""}, []string{"zzz: unknown key; known keys: bounds, featureFlags, gateway, image-overrides, ingress, registries"}},
		"more errors":                {map[string]string{key: "a b: c\nd: 1"}, []string{`image-overrides[a b]: "a b" is not`, "image-overrides[d]: line 2: must be text"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := operatorconfig.Read(configMap(tc.data), good)
			texts := messages(errs)
			if len(texts) != len(tc.want) {
				t.Fatalf("errors %q, want %q", texts, tc.want)
			}
			for i := range texts {
				if !strings.HasPrefix(texts[i], tc.want[i]) {
					t.Errorf("error %q, want %q", texts[i], tc.want[i])
				}
				if _, ours := tc.data[operatorconfig.KeyOf(errs[i])]; !ours {
					t.Errorf("the error %q is about key %q", texts[i], operatorconfig.KeyOf(errs[i]))
				}
			}
			want := good.Images
			if _, given := tc.data[key]; !given {
				want = nil // the key is missing, so there is no value
			}
			if diff := cmp.Diff(want, got.Images); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
	binary := &corev1.ConfigMap{BinaryData: map[string][]byte{key: {1}, "zzz": {1}}}
	got, errs := operatorconfig.Read(binary, good)
	want := []string{"image-overrides: is in binaryData; put it under data, as text", "zzz: unknown key; known keys: bounds, featureFlags, gateway, image-overrides, ingress, registries"}
	if diff := cmp.Diff(want, messages(errs)); diff != "" || len(got.Images) != 1 {
		t.Errorf("binary data, images %v (-want +got):\n%s", got.Images, diff)
	}
}

// A key that was never valid is unknown until it is valid for the first time. A missing key is valid.
func TestUnknown(t *testing.T) {
	const key = operatorconfig.KeyImageOverrides
	var config operatorconfig.Config
	for _, step := range []struct {
		configMap *corev1.ConfigMap
		unknown   bool
		images    int
	}{
		{configMap(map[string]string{key: "bad"}), true, 0},
		{configMap(map[string]string{key: "bad"}), true, 0},
		{configMap(map[string]string{key: "a: b:1"}), false, 1},
		{configMap(map[string]string{key: "bad"}), false, 1},
		{nil, false, 0},
		{configMap(map[string]string{key: "bad"}), false, 0},
	} {
		config, _ = operatorconfig.Read(step.configMap, config)
		if config.Unknown(key) != step.unknown || len(config.Images) != step.images {
			t.Errorf("%v: unknown %v, images %v", step.configMap, config.Unknown(key), config.Images)
		}
	}
}

// A new ConfigMap does not change any setting, and the examples in its comments are valid.
func TestTemplate(t *testing.T) {
	template := operatorconfig.Template()
	if diff := cmp.Diff(operatorconfig.Keys(), slices.Sorted(maps.Keys(template))); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	config, errs := operatorconfig.Read(configMap(template), operatorconfig.Config{})
	if len(errs) > 0 || len(config.Images) > 0 {
		t.Errorf("images %v, errors %v", config.Images, messages(errs))
	}
	uncommented := map[string]string{}
	for key, text := range template {
		for _, match := range example.FindAllStringSubmatch(text, -1) {
			uncommented[key] += match[1] + "\n"
		}
	}
	config, errs = operatorconfig.Read(configMap(uncommented), operatorconfig.Config{})
	if len(errs) > 0 {
		t.Errorf("the examples: %v", messages(errs))
	}
	for name, given := range map[string]bool{
		"images": len(config.Images) == 3, "allow": config.Registries.Allow != nil,
		"insecure":            config.Registries.Insecure != nil,
		"rewrite":             config.Registries.Rewrite != nil,
		"enableNetworkPolicy": config.Features.NetworkPolicies,
		"domain":              config.Ingress.Domain != "", "className": config.Ingress.ClassName != "",
		"annotations": len(config.Ingress.Annotations) == 1, "controllerNamespaces": len(config.Ingress.ControllerNamespaces) == 1,
		"gateway": config.Gateway != nil && config.Gateway.SectionName != "",
	} {
		if !given {
			t.Errorf("the example of %s is missing", name)
		}
	}
}

// example matches a commented-out line that sets a value.
var example = regexp.MustCompile(`(?m)^# ([^ ]+: .*)$`)

func TestImagesChanged(t *testing.T) {
	before, _ := read(operatorconfig.KeyImageOverrides, "{a: x:1, b: x:1, c: x:1, c@0.7: x:1}")
	after, _ := read(operatorconfig.KeyImageOverrides, "{b: x:2, c: x:1, c@0.7: x:2, c@0.7.1: x:1, d: x:1}")
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, operatorconfig.ImagesChanged(before, after)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if got := operatorconfig.ImagesChanged(before, before); got != nil {
		t.Errorf("the result for two equal configurations is %v", got)
	}
}

// FuzzRead checks that no input causes a panic, that a lenient parser reads the same values, and that the last valid
// value stays in effect after an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "starter: a:1", "starter@0.7.3: a/b:1", "- x", "a: &x b\nc: *x", "{a: b, a: c}", "? [a]\n: b", "\t",
		"a: |\n  b\n", "---\n---\n",
	} {
		f.Add("image-overrides", seed)
	}
	f.Add("registries", "{}")
	last, _ := read(operatorconfig.KeyImageOverrides, "kept: a:1")
	f.Fuzz(func(t *testing.T, key, text string) {
		config, errs := operatorconfig.Read(configMap(map[string]string{key: text}), last)
		for _, err := range errs {
			if got := operatorconfig.KeyOf(err); got != key {
				t.Errorf("KeyOf returns %[2]q for an error about %[1]q: %[3]v", key, got, err)
			}
		}
		if key != operatorconfig.KeyImageOverrides {
			return
		}
		if len(errs) > 0 {
			if diff := cmp.Diff(last.Images, config.Images); diff != "" {
				t.Errorf("an error changed the images (-last +now):\n%s", diff)
			}
			return
		}
		var lenient map[string]string
		if err := yaml.Unmarshal([]byte(text), &lenient); err != nil {
			t.Fatalf("accepted a value that is not a mapping of texts: %v", err)
		}
		if len(lenient) != len(config.Images) {
			t.Errorf("%d entries, of which %d were read", len(lenient), len(config.Images))
		}
		for name, image := range config.Images {
			if lenient[name] != image {
				t.Errorf("%q: read %q, is %q", name, image, lenient[name])
			}
		}
	})
}
