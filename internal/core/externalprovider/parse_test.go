package externalprovider_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
)

const whole = `apiVersion: llamastack.io/v1alpha1
kind: ProviderPackage
metadata:
  name: custom-vllm
  version: 1.0
  vendor: my-org
  description: serves models
spec:
  packageName: my_org.custom_vllm
  providerType: remote::custom-vllm
  api: vector_io
  wheelPath: /lls-provider/packages/custom_vllm-1.0-py3-none-any.whl
  dependencyWheels: [packages/./a-1-py3-none-any.whl]
  configSchema:
    type: object
    required: [url]
    properties:
      url: {type: string, maxLength: 100}
      weight: {type: number, minimum: 0.5, default: null}
      1: {const: true}
      since: {const: 2026-11-23}
`

func TestParse(t *testing.T) {
	want := &externalprovider.Package{
		Name: "custom-vllm", Version: "1.0", Vendor: "my-org", API: "vector_io", Type: "remote::custom-vllm",
		Module: "my_org.custom_vllm",
		Wheel:  "packages/custom_vllm-1.0-py3-none-any.whl", DependencyWheels: []string{"packages/a-1-py3-none-any.whl"},
		ConfigSchema: map[string]any{"type": "object", "required": []any{"url"}, "properties": map[string]any{
			"url":    map[string]any{"type": "string", "maxLength": 100},
			"weight": map[string]any{"type": "number", "minimum": 0.5, "default": nil},
			"1":      map[string]any{"const": true},
			"since":  map[string]any{"const": "2026-11-23"},
		}},
	}
	got, err := externalprovider.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	label := base64.StdEncoding.EncodeToString([]byte(whole))
	if got, err = externalprovider.FromLabel(label + "\n"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("label (-want +got):\n%s", diff)
	}
}

// The file omits all optional parts of a package.
func TestParseShort(t *testing.T) {
	const short = "apiVersion: llamastack.io/v1alpha1\nkind: ProviderPackage\nmetadata: {name: a, version: '1', vendor: b}\n" +
		"spec: {packageName: a, providerType: 'inline::a::b', api: eval, wheelPath: null}\n"
	want := &externalprovider.Package{Name: "a", Version: "1", Vendor: "b", API: "eval", Type: "inline::a::b", Module: "a"}
	got, err := externalprovider.Parse([]byte(short))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each row changes the complete file and states the resulting error.
func TestParseErrors(t *testing.T) {
	for name, tc := range map[string]struct{ old, new, want string }{
		"another version":             {"llamastack.io/v1alpha1", "llamastack.io/v2", `line 1: apiVersion is "llamastack.io/v2", but must be llamastack.io/v1alpha1`},
		"another kind":                {"ProviderPackage", "Provider", `line 2: kind is "Provider", but must be ProviderPackage`},
		"no kind":                     {"kind: ProviderPackage\n", "", "line 1: kind is missing"},
		"no metadata":                 {"metadata:", "metadate:", "line 1: metadata must be a mapping"},
		"metadata is text":            {"metadata:", "metadata: x\nmore:", "line 3: metadata must be a mapping"},
		"no vendor":                   {"  vendor: my-org\n", "", "line 4: metadata.vendor is missing"},
		"empty name":                  {"custom-vllm\n", "''\n", "line 4: metadata.name must not be empty"},
		"name is a list":              {"custom-vllm\n", "[]\n", "line 4: metadata.name must be a string, got a list"},
		"long name":                   {"custom-vllm\n", strings.Repeat("x", 513) + "\n", "line 4: metadata.name has 513 bytes, but at most 512 are allowed; shorten the value"},
		"module":                      {"my_org.custom_vllm", "my-org", `line 9: spec.packageName is "my-org", which is not the name of a Python module; use a name like my_org.custom_vllm`},
		"module with code":            {"my_org.custom_vllm", "'os; import sys'", `line 9: spec.packageName is "os; import sys", which is not the name of a Python module; use a name like my_org.custom_vllm`},
		"type":                        {"remote::custom-vllm", "custom-vllm", `line 10: spec.providerType is "custom-vllm", which is not a provider type; use remote:: or inline:: and a name, like remote::custom-vllm`},
		"unknown type":                {"remote::custom-vllm", externalprovider.UnknownType, `line 10: spec.providerType is "external::unknown", which is not a provider type; use remote:: or inline:: and a name, like remote::custom-vllm`},
		"api":                         {"vector_io", "vectorIo", `line 11: spec.api is "vectorIo", which is not the name of a server API; use a name like inference or vector_io`},
		"long api":                    {"vector_io", strings.Repeat("X", 200), `line 11: spec.api is "` + strings.Repeat("X", 128) + `…", which is not the name of a server API; use a name like inference or vector_io`},
		"wheel in another directory":  {"/lls-provider/packages/", "/etc/", `line 12: spec.wheelPath is "/etc/custom_vllm-1.0-py3-none-any.whl", which ` + outside},
		"wheel in a parent directory": {"packages/./a-1", "packages/../../a-1", `line 13: spec.dependencyWheels[0] is "packages/../../a-1-py3-none-any.whl", which ` + outside},
		"no wheel":                    {"packages/./a-1-py3-none-any.whl", "packages", `line 13: spec.dependencyWheels[0] is "packages", which ` + outside},
		"wheel is null":               {"packages/./a-1-py3-none-any.whl", "null", "line 13: spec.dependencyWheels[0] must be a string, got null"},
		"wheels is a text":            {"[packages/./a-1-py3-none-any.whl]", "a.whl", "line 13: spec.dependencyWheels must be a list, got a scalar"},
		"too many wheels":             {"[packages/./a-1-py3-none-any.whl]", "[" + strings.Repeat("a.whl,", 257) + "]", "line 13: spec.dependencyWheels has 257 entries, but at most 256 are allowed; remove some"},
		"schema is a list":            {"configSchema:", "configSchema: []\n  more:", "line 14: spec.configSchema must be a mapping, got a list"},
		"not YAML":                    {"kind: ", "kind: : ", "is not YAML: yaml: line 2: mapping values are not allowed in this context"},
		"not a mapping":               {whole, "[a]", "must be a mapping, got a list"},
		"empty file":                  {whole, "", "is empty"},
		"too large":                   {whole, strings.Repeat("#", 65537), "has 65537 bytes, but at most 65536 are allowed; shorten the file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := externalprovider.Parse([]byte(strings.Replace(whole, tc.old, tc.new, 1)))
			if want := "lls-provider-spec.yaml: " + tc.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

const outside = "is not the path of a wheel below /lls-provider; use a path like packages/my_provider-1.0-py3-none-any.whl"

func TestFromLabelErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "label io.llamastack.provider: lls-provider-spec.yaml: is empty",
		"{}":                        "label io.llamastack.provider: the value is not base64; encode the metadata file in base64",
		"e30=":                      "label io.llamastack.provider: lls-provider-spec.yaml: line 1: apiVersion is missing",
		strings.Repeat("A", 100000): "label io.llamastack.provider: the metadata file is larger than 65536 bytes; shorten the file",
	} {
		if _, err := externalprovider.FromLabel(text); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
