package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestCorrectionsAreShown checks that every correction of every line has a test in package release.
func TestCorrectionsAreShown(t *testing.T) {
	tests := testNames(t)
	data := os.DirFS(root + directory)
	for _, name := range append(release.Lines(), several...) {
		o, err := readOverlay(data, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range o.Corrections {
			if !tests[c.Test] {
				t.Errorf("%s: the correction of %q names the test %q, which does not exist", name, c.Of, c.Test)
			}
			if !slices.Contains(several, name) && (c.Since != "" || c.Until != "") {
				t.Errorf("%s: the correction of %q also applies to other lines", name, c.Of)
			}
		}
	}
}

// testNames returns the names of the tests in package release.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(root + "internal/core/stackconfig/release/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(source), -1) {
			names[match[1]] = true
		}
	}
	return names
}

// minimal is the smallest data file that loads.
const minimal = `{
  "line": "9.9", "version": "9.9.1", "top_level": "Config", "server": "Server",
  "storage": {"backends": {"kv_x": {"class": "Backend", "family": "kv"}},
   "stores": [{"name": "metadata", "class": "Ref", "family": "kv"}]},
  "resources": [{"kind": "models", "class": "Server"}],
  "providers": {"inference/remote::x": {"config": "Config"}},
  "classes": {
    "Config": {"extra": "ignore", "keys": [{"name": "server", "type": "Server | null", "default": null}]},
    "Server": {"extra": "forbid", "keys": [{"name": "port", "type": "int", "default": 1, "limits": {"ge": 1}}]},
    "Backend": {"extra": "ignore", "keys": []},
    "Ref": {"extra": "ignore", "keys": []}
  }
}`

// parseText returns the Release for a data file with one overlay.
func parseText(data, corrections string) (*release.Release, error) {
	o, err := decodeOverlay([]byte(corrections))
	if err != nil {
		return nil, err
	}
	doc, err := decode([]byte(data))
	if err != nil {
		return nil, err
	}
	if err := o.apply(doc); err != nil {
		return nil, err
	}
	text, err := doc.encode()
	if err != nil {
		return nil, err
	}
	return release.Decode(text)
}

func TestOverlay(t *testing.T) {
	r, err := parseText(minimal, `
corrections:
- {of: release, set: {covers: ["9.9.0", "9.9.1"]}, reason: r, test: t}
- {of: runtime, set: {host: "::"}, reason: r, test: t}
- {of: tools, set: {mcp: models}, reason: r, test: t}
- {of: provider inference/remote::x, set: {endpoint_key: server}, reason: r, test: t}
- {of: provider inference/remote::x, set: {endpoint_path: /v1}, reason: r, test: t}
- {of: backend kv_x, set: {credential_key: secret}, reason: r, test: t}
- {of: store metadata, set: {required: true}, reason: r, test: t}
- {of: resource models, set: {public_id: x}, reason: r, test: t}
- {of: key Server.port, set: {required: true, secret: true}, reason: r, test: t}
- {of: storage, since: "9.9", until: "9.9", set: {required: true}, reason: r, test: t}
- {of: runtime, since: "9.10", set: {host: "after"}, reason: r, test: t}
- {of: runtime, until: "9.8", set: {host: "before"}, reason: r, test: t}
`)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := r.Provider("inference", "remote::x")
	b, _ := r.Storage.Backend("kv_x")
	s, _ := r.Storage.Store("metadata")
	m, _ := r.Resource("models")
	port, _ := r.Server.Key("port")
	for what, ok := range map[string]bool{
		"storage":                           r.Storage.Required,
		"release":                           len(r.Covers) == 2,
		"runtime":                           r.Runtime.Host == "::",
		"tools":                             r.Tools.MCP == "models",
		"provider, first":                   p.EndpointKey == "server",
		"provider, second":                  p.EndpointPath == "/v1",
		"backend":                           b.CredentialKey == "secret" && b.Family == release.KV,
		"store":                             s.Required,
		"resource":                          m.PublicID == "x",
		"key, the fields in the correction": port.Required && port.Secret,
		"key, the other fields":             port.Limits != nil && port.Type.String() == "int",
		"the class of another key":          r.TopLevel.Keys[0].Type.Args[0].Class == r.Server,
	} {
		if !ok {
			t.Errorf("%s is not corrected", what)
		}
	}
}

func TestBadData(t *testing.T) {
	const none = "corrections: []"
	of := func(part, set string) string {
		return "corrections: [{of: " + part + ", set: " + set + ", reason: r, test: t}]"
	}
	replaced := func(from, to string) string { return strings.Replace(minimal, from, to, 1) }
	tests := map[string]struct{ data, overlay, want string }{
		"not JSON":                      {"x", none, "decode release data: invalid character"},
		"no version":                    {`{"line": "1.0"}`, none, `line "1.0" or version "" is empty`},
		"overlay not YAML":              {minimal, "\t", "decode overlay"},
		"overlay with an unknown field": {minimal, "fixes: []", "field fixes not found"},
		"no reason":                     {minimal, "corrections: [{of: runtime, set: {host: x}, test: t}]", "must have the fields \"of\", \"set\", \"reason\" and \"test\""},
		"no test":                       {minimal, "corrections: [{of: runtime, set: {host: x}, reason: r}]", "must have the fields \"of\", \"set\", \"reason\" and \"test\""},
		"no such part":                  {minimal, of("weather", "{a: 1}"), `correct "weather": no such part`},
		"no such provider":              {minimal, of("provider inference/remote::y", "{a: 1}"), "no such part"},
		"no such backend":               {minimal, of("backend kv_y", "{a: 1}"), "no such part"},
		"no such store":                 {minimal, of("store prompts", "{a: 1}"), "no such part"},
		"no such resource":              {minimal, of("resource shields", "{a: 1}"), "no such part"},
		"no such class":                 {minimal, of("key Nothing.port", "{a: 1}"), "no such part"},
		"no such key":                   {minimal, of("key Server.x", "{a: 1}"), "no such part"},
		"key without class":             {minimal, of("key port", "{a: 1}"), "no such part"},
		"unknown field":                 {`{"lines": 1}`, none, `unknown field "lines"`},
		"unknown field set":             {minimal, of("runtime", "{a: 1}"), `unknown field "a"`},
		"alias in set":                  {minimal, of("runtime", "&a {host: *a}"), "the field \"set\" must not contain an alias"},
		"unknown class":                 {replaced(`"top_level": "Config"`, `"top_level": "C"`), none, `top_level refers to the class "C", which has no description`},
		"bad type expression":           {replaced(`"int"`, `"list["`), none, `class "Server": key "port": parse type expression`},
		"bad extra":                     {replaced(`"forbid"`, `"maybe"`), none, `unknown extra "maybe"`},
		"bad provider name":             {replaced("inference/remote::x", "remote::x"), none, `provider "remote::x" is not written as api/type`},
		"bad tool":                      {minimal, of("tools", "{names: {a: builtin::a}}"), `tool "a" refers to the group "builtin::a", which no provider has`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseText(tt.data, tt.overlay)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
