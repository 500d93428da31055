package provider_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

func TestType(t *testing.T) {
	remote := provider.Type{Type: "remote::hf::serverless", Config: schema.NewClass("C", schema.ExtraIgnore, []schema.Key{
		{Name: "url"}, {Name: "api_key", Secret: true}, {Name: "password", Secret: true},
	})}
	inline := provider.Type{Type: "inline::faiss"}
	if remote.Short() != "hf::serverless" || !remote.IsRemote() {
		t.Errorf("short %q, remote %v", remote.Short(), remote.IsRemote())
	}
	if inline.Short() != "faiss" || inline.IsRemote() {
		t.Errorf("short %q, remote %v", inline.Short(), inline.IsRemote())
	}
	if bare := (&provider.Type{Type: "x"}).Short(); bare != "x" {
		t.Errorf("short %q", bare)
	}
	if got := remote.Secrets(); !slices.Equal(got, []string{"api_key", "password"}) {
		t.Errorf("secrets %v", got)
	}
	if got := inline.Secrets(); got != nil {
		t.Errorf("a type without a class has the secrets %v", got)
	}
}

func TestEndpoint(t *testing.T) {
	openai := provider.Type{EndpointPath: "/v1"}
	tests := []struct{ given, want string }{
		{"http://vllm:8000", "http://vllm:8000/v1"},
		{"https://vllm.example.com", "https://vllm.example.com/v1"},
		{"HTTPS://vllm", "HTTPS://vllm/v1"},
		{"http://[::1]:8000", "http://[::1]:8000/v1"},
		{"http://user@host", "http://user@host/v1"},
		{"http://vllm:8000/", "http://vllm:8000/"},
		{"http://vllm:8000/v1", "http://vllm:8000/v1"},
		{"http://vllm:8000/openai", "http://vllm:8000/openai"},
		{"http://vllm:8000?x=1", "http://vllm:8000?x=1"},
		{"http://vllm:8000#x", "http://vllm:8000#x"},
		{"vllm:8000", "vllm:8000"},
		{"grpc://vllm:8000", "grpc://vllm:8000"},
		{"${env.VLLM_URL}", "${env.VLLM_URL}"},
		{"http://${env.HOST}:8000", "http://${env.HOST}:8000"},
		{"http://", "http://"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := openai.Endpoint(tt.given); got != tt.want {
			t.Errorf("Endpoint(%q) = %q, want %q", tt.given, got, tt.want)
		}
	}
	if got := (&provider.Type{}).Endpoint("http://chroma:8000"); got != "http://chroma:8000" {
		t.Errorf("a type without a path changes the endpoint to %q", got)
	}
}

func TestDefaults(t *testing.T) {
	kind := provider.Type{RequiredDefaults: []provider.Default{
		{Key: "path", Value: "~/{distribution}/{id}.db"},
		{Key: "store", Value: provider.Fields{
			{Key: "namespace", Value: "a::{id}"},
			{Key: "table_name", Value: "t_{table}"},
			{Key: "more", Value: []any{"{id}", json.Number("1"), nil}},
		}},
		{Key: "token", Value: nil},
	}}
	want := []provider.Default{
		{Key: "path", Value: "~/starter/My-Id.db"},
		{Key: "store", Value: provider.Fields{
			{Key: "namespace", Value: "a::My-Id"},
			{Key: "table_name", Value: "t_my_id"},
			{Key: "more", Value: []any{"My-Id", json.Number("1"), nil}},
		}},
		{Key: "token", Value: nil},
	}
	if diff := cmp.Diff(want, kind.Defaults("My-Id", "starter")); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if got, ok := kind.Default("path", "x", "y"); !ok || got != "~/y/x.db" {
		t.Errorf("Default(path) = %v, %v", got, ok)
	}
	if _, ok := kind.Default("other", "x", "y"); ok {
		t.Error("a key without a default value has one")
	}
	// An ID with braces is text, not a placeholder.
	if got, _ := kind.Default("path", "{distribution}", "y"); got != "~/y/{distribution}.db" {
		t.Errorf("an ID with braces results in %v", got)
	}
}

// TestFieldsInJSON checks that fields and defaults keep the order of their keys and the digits of their numbers.
func TestFieldsInJSON(t *testing.T) {
	const text = `{"b":[1,2.50,true,null],"a":{"z":"x","y":{}},"c":[]}`
	want := provider.Fields{
		{Key: "b", Value: []any{json.Number("1"), json.Number("2.50"), true, nil}},
		{Key: "a", Value: provider.Fields{{Key: "z", Value: "x"}, {Key: "y", Value: provider.Fields{}}}},
		{Key: "c", Value: []any{}},
	}
	var got provider.Default
	if err := json.Unmarshal([]byte(`{"key":"k","value":`+text+`}`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(provider.Default{Key: "k", Value: want}, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if written, err := json.Marshal(want); err != nil || string(written) != text {
		t.Errorf("written as %s, error %v", written, err)
	}
	if value, ok := want.Get("c"); !ok || value == nil {
		t.Error("the key c is not found")
	}
	if _, ok := want.Get("d"); ok {
		t.Error("the key d is found")
	}
	for text, want := range map[string]string{
		"null": "", "[1]": "read a mapping: found []interface {}", "{": "unexpected end of JSON input",
	} {
		err := json.Unmarshal([]byte(text), &provider.Fields{})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestNode(t *testing.T) {
	value := provider.Fields{
		{Key: "text", Value: "plain words"},
		{Key: "yes", Value: "no"},
		{Key: "number", Value: "012"},
		{Key: "date", Value: "2024-01-31"},
		{Key: "reference", Value: "${env.X:=1}"},
		{Key: "lines", Value: "one\ntwo\n"},
		{Key: "star", Value: "*"},
		{Key: "int", Value: json.Number("5")},
		{Key: "float", Value: json.Number("60.0")},
		{Key: "big", Value: json.Number("1e16")},
		{Key: "small", Value: json.Number("1.5e-05")},
		{Key: "on", Value: true},
		{Key: "off", Value: false},
		{Key: "nothing", Value: nil},
		{Key: "list", Value: []any{"a", provider.Fields{{Key: "b", Value: "c"}}}},
		{Key: "empty", Value: []any{}},
		{Key: "none", Value: provider.Fields{}},
	}
	want := `text: plain words
"yes": "no"
number: "012"
date: "2024-01-31"
reference: ${env.X:=1}
lines: |
  one
  two
star: '*'
int: 5
float: 60.0
big: 1.0e+16
small: 1.5e-05
"on": true
"off": false
nothing: null
list:
  - a
  - b: c
empty: []
none: {}
`
	var out strings.Builder
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(provider.Node(value)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
}

// FuzzNode checks that decoded data written as YAML has the same keys and strings, in the same order, when it is read
// back.
func FuzzNode(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, "x", null, true, 1.5]}`, `{"a": ["yes", "a\nb\n", " lead"]}`, `{"a": "- x: y"}`, `{"": {"#": "\t"}}`,
		`{"a": 1e99}`, `{"a": "é "}`, `{"a": "one\n two \n"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var value provider.Fields
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		data, err := yaml.Marshal(provider.Node(value))
		if err != nil {
			t.Fatal(err)
		}
		var node yaml.Node
		if err := yaml.Unmarshal(data, &node); err != nil {
			t.Fatalf("%s is written as %q, which is not YAML: %v", text, data, err)
		}
		if diff := cmp.Diff(flat(value), flatNode(node.Content[0])); diff != "" {
			t.Errorf("%s is written as %q (-want +got):\n%s", text, data, diff)
		}
	})
}

// flat lists the scalars of a value in order, and marks strings.
func flat(value any) []string {
	switch v := value.(type) {
	case provider.Fields:
		var out []string
		for _, field := range v {
			out = append(append(out, "key "+field.Key), flat(field.Value)...)
		}
		return out
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, flat(item)...)
		}
		return out
	case string:
		return []string{"str " + v}
	default:
		return []string{"scalar"}
	}
}

func flatNode(node *yaml.Node) []string {
	var out []string
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			out = append(append(out, "key "+node.Content[i].Value), flatNode(node.Content[i+1])...)
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			out = append(out, flatNode(item)...)
		}
	default:
		if node.ShortTag() == "!!str" {
			return []string{"str " + node.Value}
		}
		return []string{"scalar"}
	}
	return out
}

func TestFill(t *testing.T) {
	value := provider.Fields{
		{Key: "path", Value: "~/{distribution}/{table}.db"}, {Key: "ids", Value: []any{"{id}", nil, true}},
	}
	want := provider.Fields{{Key: "path", Value: "~/starter/my_id.db"}, {Key: "ids", Value: []any{"My-ID", nil, true}}}
	if diff := cmp.Diff(want, provider.Fill(value, "My-ID", "starter")); diff != "" {
		t.Errorf("filled (-want +got):\n%s", diff)
	}
	if value[0].Value != "~/{distribution}/{table}.db" {
		t.Error("the data itself was changed")
	}
}
