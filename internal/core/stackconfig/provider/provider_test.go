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
	fields := func(text string) (fields []provider.Default) {
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		return fields
	}
	kind := provider.Type{RequiredDefaults: fields(`[{"key": "path", "value": "~/{distribution}/{id}.db"}, {"key": "token", "value": null},
		{"key": "store", "value": {"namespace": "a::{id}", "table_name": "t_{table}", "more": ["{id}", 1, null]}}]`)}
	want := fields(`[{"key": "path", "value": "~/starter/My-Id.db"}, {"key": "token", "value": null},
		{"key": "store", "value": {"namespace": "a::My-Id", "table_name": "t_my_id", "more": ["My-Id", 1, null]}}]`)
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
	if got := kind.RequiredDefaults[0].Value; got != "~/{distribution}/{id}.db" {
		t.Errorf("the data itself was changed to %v", got)
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
	const text = `{"text": "plain words", "yes": "no", "number": "012", "date": "2024-01-31", "reference": "${env.X:=1}",
		"lines": "one\ntwo\n", "star": "*", "int": 5, "float": 60.0, "big": 1e16, "small": 1.5e-05, "on": true, "off": false,
		"nothing": null, "list": ["a", {"b": "c"}], "empty": [], "none": {}}`
	var value provider.Fields
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
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
