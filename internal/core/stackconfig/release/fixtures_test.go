package release_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// fixtures is the directory of the reference data next to the repository, on machines that have it.
const fixtures = "../../../../../shared/fixtures"

// fixture reads a file in the reference data. ok is false when the file does not exist.
func fixture(t *testing.T, name string) (data []byte, ok bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return data, true
}

// described is the description of a release in the reference data. The golden files of TestFacts show the other facts.
type described struct {
	TopLevel keyed `json:"top_level"`
	Server   keyed `json:"server"`
	Storage  struct {
		Backends map[string]keyed `json:"backends"`
		Stores   keyed            `json:"stores"`
		Inline   map[string]keyed `json:"inline_backends"`
	} `json:"storage"`
	Resources map[string]keyed `json:"resources"`
	Providers []struct {
		API      string                  `json:"api"`
		Type     string                  `json:"provider_type"`
		Extra    schema.Extra            `json:"extra"`
		Requires []string                `json:"api_dependencies"`
		Optional []string                `json:"optional_api_dependencies"`
		Packages []string                `json:"pip_packages"`
		Keys     map[string]describedKey `json:"keys"`
	} `json:"providers"`
}

// keyed is a class in the reference data.
type keyed struct {
	Keys map[string]describedKey `json:"keys"`
}

type describedKey struct {
	Type             string                             `json:"type"`
	Required         bool                               `json:"required"`
	Default          any                                `json:"default"`
	DefaultVariables []string                           `json:"default_env"`
	Secret           string                             `json:"secret"`
	Deprecated       bool                               `json:"deprecated"`
	Fields           map[string]map[string]describedKey `json:"fields"`
}

// TestAgreesWithTheReference compares each line with the reference data that another program extracted from the same
// release. Only values that the overlays correct may differ. The test lists each of these corrections by name, with the
// line if the correction applies to only one line.
func TestAgreesWithTheReference(t *testing.T) {
	corrected := map[string]bool{
		"inference/remote::vllm.url is required":               true,
		"inference/remote::vllm.base_url is required":          true,
		"inference/remote::oci.oci_compartment_id is required": true,
		"inference/remote::vllm.url type":                      true,
		"inference/remote::vllm.base_url type":                 true,
		// For the following entries, the reference contains what the classes declare, but the code of the classes rejects
		// these values.
		"inference/inline::meta-reference.model type":                   true,
		"inference/remote::oci.oci_auth_type type":                      true,
		"vector_io/remote::chromadb.url type":                           true,
		"vector_io/remote::elasticsearch.elasticsearch_url is required": true,
		"scoring_fns.description is required":                           true,
		"scoring_fns.description type":                                  true,
		"top level.scoring_fns.ScoringFnInput.description is required":  true,
		"top level.scoring_fns.ScoringFnInput.description type":         true,
		"0.2 telemetry/inline::meta-reference.sinks type":               true,
	}
	for _, line := range release.Lines() {
		r := lineOf(t, line)
		data, ok := fixture(t, "provider-schemas/"+r.Version+".json")
		if !ok {
			continue
		}
		var want described
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		c := &comparison{t: t, line: line, corrected: corrected}
		c.keys("top level", r.TopLevel, want.TopLevel.Keys)
		c.keys("server", r.Server, want.Server.Keys)
		c.storage(r, want)
		c.resources(r, want)
		c.providers(r, want)
	}
}

// comparison reports differences between the data and the reference.
type comparison struct {
	t         *testing.T
	line      string
	corrected map[string]bool
}

func (c *comparison) equal(what string, want, got any) {
	c.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" && !c.corrected[what] && !c.corrected[c.line+" "+what] {
		c.t.Errorf("%s: %s (-reference +ours):\n%s", c.line, what, diff)
	}
}

func (c *comparison) storage(r *release.Release, want described) {
	for name, backend := range want.Storage.Inline { // those of 0.2, with names such as kvstore:redis
		ours, _ := r.Storage.Backend(strings.Replace(name, "store:", "_", 1))
		c.keys("backend "+name, ours.Class, backend.Keys)
	}
	if r.Storage.Inline {
		return
	}
	for name, backend := range want.Storage.Backends {
		ours, _ := r.Storage.Backend(name)
		c.keys("backend "+name, ours.Class, backend.Keys)
	}
	for name, store := range want.Storage.Stores.Keys {
		ours, ok := r.Storage.Store(name)
		c.equal("store "+name+" is there", true, ok)
		for _, fields := range store.Fields {
			c.keys("store "+name, ours.Class, fields)
		}
	}
}

func (c *comparison) resources(r *release.Release, want described) {
	for kind, resource := range want.Resources {
		ours, _ := r.Resource(kind)
		c.keys(kind, ours.Class, resource.Keys)
	}
}

func (c *comparison) providers(r *release.Release, want described) {
	seen := 0
	for _, p := range want.Providers {
		name := p.API + "/" + p.Type
		ours, ok := r.Provider(p.API, p.Type)
		if !ok {
			c.t.Errorf("no provider type %s", name)
			continue
		}
		seen++
		c.equal(name+" extra", p.Extra, ours.Config.Extra)
		c.equal(name+" requires", list(p.Requires), list(ours.Requires))
		c.equal(name+" optional", list(p.Optional), list(ours.Optional))
		c.equal(name+" packages", list(p.Packages), list(ours.Packages))
		c.keys(name, ours.Config, p.Keys)
	}
	ours := 0
	eachProvider(r, func(*provider.Type) { ours++ })
	c.equal("number of provider types", seen, ours)
}

// keys compares the keys of a class. The reference lists the sections of the config elsewhere. Where it lists the keys
// of a nested class, keys compares those too.
func (c *comparison) keys(what string, class *schema.Class, want map[string]describedKey) {
	if class == nil {
		c.t.Errorf("%s has no class", what)
		return
	}
	c.equal(what+", number of keys", len(want), len(class.Keys))
	for name, key := range want {
		at := what + "." + name
		ours, ok := class.Key(name)
		if !ok {
			c.t.Errorf("%s is not a key", at)
			continue
		}
		c.equal(at+" is required", key.Required, ours.Required)
		c.equal(at+" type", key.Type, shortNames(ours.Type.String()))
		c.equal(at+" deprecated", key.Deprecated, ours.Deprecated)
		c.equal(at+" default variables", list(key.DefaultVariables), list(ours.DefaultVariables))
		if key.Secret != "" && !ours.Secret {
			c.t.Errorf("%s is a secret (%s), but is not marked as one", at, key.Secret)
		}
		if !key.Required && !c.corrected[at+" is required"] {
			c.equal(at+" default", key.Default, ours.Default)
		}
		for className, fields := range key.Fields {
			c.keys(at+"."+className, nested(ours.Type, className), fields)
		}
	}
}

// shortNames removes the module names that distinguish classes with the same name.
func shortNames(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], |", r) })
	for _, word := range words {
		if i := strings.LastIndexByte(word, '.'); i >= 0 && strings.HasSuffix(word, "Config") {
			text = strings.ReplaceAll(text, word, word[i+1:])
		}
	}
	return text
}

// nested finds a class with the given name among the classes of a type.
func nested(e *schema.Expr, name string) *schema.Class {
	if e.Class != nil && shortNames(e.Class.Name) == name {
		return e.Class
	}
	for _, arg := range e.Args {
		if class := nested(arg, name); class != nil {
			return class
		}
	}
	return nil
}

func list(items []string) []string { return append([]string{}, items...) }

// TestConfigsAreTheShippedOnes compares the configs in the data, written as YAML, with the files that the releases
// ship. Both must contain the same data in the same order. For some lines, the folders and the data are from different
// patch releases with the same content.
func TestConfigsAreTheShippedOnes(t *testing.T) {
	compared := 0
	for folder, line := range map[string]string{
		"v0.2.14": "0.2", "v0.2.23": "0.2", "v0.3.5": "0.3", "v0.4.5": "0.4", "v0.5.2": "0.5", "v0.6.1": "0.6",
		"v0.7.1": "0.7",
		"v0.8.0": "0.8", "ogx-1.5": "1.5",
	} {
		files, err := filepath.Glob(filepath.Join(fixtures, "distro-configs", folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			// starter.run-with-postgres-store.yaml belongs to starter/run-with-postgres-store.
			name := strings.Replace(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".", "/", 1)
			if folder == "v0.2.14" && !strings.HasPrefix(name, "remote-vllm") {
				continue // the line's other configs are from 0.2.24, which differs from 0.2.14; 0.2.23 is compared instead
			}
			if name == "minimal" {
				continue // not shipped
			}
			compared++
			t.Run(folder+"/"+name, func(t *testing.T) { compareShipped(t, line, name, file) })
		}
	}
	if _, ok := fixture(t, "README.md"); ok && compared < 36 {
		t.Errorf("only %d configs were compared", compared)
	}
}

func compareShipped(t *testing.T, line, name, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want, got yaml.Node
	ours := shipped(t, lineOf(t, line), name)
	if err := errors.Join(yaml.Unmarshal(data, &want), yaml.Unmarshal(ours, &got)); err != nil {
		t.Fatal(err)
	}
	layout := cmpopts.IgnoreFields(yaml.Node{}, "Style", "HeadComment", "LineComment", "FootComment", "Line", "Column")
	if diff := cmp.Diff(want, got, layout); diff != "" {
		t.Errorf("config (-shipped +ours):\n%s", diff)
	}
}
