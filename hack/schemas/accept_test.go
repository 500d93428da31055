package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/casetable"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

var modeline = regexp.MustCompile(`(?m)^# yaml-language-server: \$schema=(\S+)$`)

// Each sample has a modeline directly before its stack, and is valid against the schema in the modeline and against the
// schema of the default line.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "config/samples/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			testutil.Must(t, err)
			documents := strings.Split(string(data), "---\n")
			last := documents[len(documents)-1]
			found := modeline.FindStringSubmatch(last)
			if found == nil || !strings.HasPrefix(last, found[0]) || len(modeline.FindAllString(string(data), -1)) != 1 {
				t.Fatal("the modeline must be the first line of the document with the stack")
			}
			if want := "../../schemas/" + prefix + "v1alpha2" + suffix; found[1] != want {
				t.Errorf("the modeline names %s, want %s, which make schemas writes", found[1], want)
			}
			schema := compile(t, "v1alpha2")
			newest := compile(t, "v1alpha2-"+release.DefaultLine())
			stacks := manifestsIn(t, file, stack)
			if len(stacks) != 1 {
				t.Fatalf("%d stacks", len(stacks))
			}
			for _, p := range append(problems(t, schema, stacks[0].object), problems(t, newest, stacks[0].object)...) {
				t.Errorf("%s: %s", p.path, p.text)
			}
		})
	}
}

// The schemas accept each manifest in the repository that the definition and the pipeline accept.
func TestManifests(t *testing.T) {
	schemas := map[string]string{v1alpha1.GroupVersion.String(): "v1alpha1", stack: "v1alpha2"}
	count := map[string]int{}
	for version, name := range schemas {
		schema, crd := compile(t, name), definitionOf(t, name)
		err := filepath.WalkDir(testutil.Root(), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != testutil.Root() {
				return filepath.SkipDir
			}
			if entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".json" {
				return nil
			}
			for _, m := range manifestsIn(t, path, version) {
				object, _ := integers(m.object).(map[string]any)
				if crd.refusal(t, object) != "" || refusal(m.object) != "" {
					continue
				}
				count[version]++
				for _, p := range problems(t, schema, m.object) {
					t.Errorf("%s: %s: %s", m.name, p.path, p.text)
				}
			}
			return nil
		})
		testutil.Must(t, err)
	}
	t.Logf("valid manifests: %v", count)
	if count[stack] < 20 || count[v1alpha1.GroupVersion.String()] < 10 {
		t.Errorf("only %v manifests were found", count)
	}
}

// refusal returns the reason why the pipeline rejects an object, or an empty string.
func refusal(object map[string]any) string {
	typ := reflect.TypeFor[v1alpha2.LlamaStackDistribution]()
	if object["apiVersion"] != stack {
		typ = reflect.TypeFor[v1alpha1.LlamaStackDistribution]()
	}
	if _, found := typecheck.Check(numbers(object), typ); len(found) > 0 {
		return found[0].String()
	}
	if object["apiVersion"] != stack {
		object = convert.ToHub(numbers(object))
	}
	data, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	decoded := &v1alpha2.LlamaStackDistribution{}
	if err := json.Unmarshal(data, decoded); err != nil {
		return err.Error()
	}
	if _, _, errs := validate.Spec(decoded); len(errs) > 0 {
		return errs[0].Error()
	}
	return ""
}

// numbers returns a copy of an object in which numbers have the type json.Number.
func numbers(object map[string]any) map[string]any {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // it was JSON
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	var result map[string]any
	if err := decoder.Decode(&result); err != nil {
		panic(err)
	}
	return result
}

// The schema accepts every case in the table that the API server and the pipeline accept.
func TestCases(t *testing.T) {
	table, err := casetable.Load(filepath.Join(testutil.Root(), casetable.Folder))
	testutil.Must(t, err)
	schema := compile(t, "v1alpha2")
	accepted, reported, refused := 0, 0, 0
	for _, c := range table.Cases {
		found := problems(t, schema, c.Object)
		if len(c.Server)+len(c.Go) > 0 {
			refused++
			if len(found) > 0 {
				reported++
			}
			continue
		}
		accepted++
		if len(found) > 0 && refusal(c.Object) == "" {
			t.Errorf("%s/%s is accepted, but the schema reports %v", c.Topic, c.Name, found)
		}
	}
	t.Logf("%d cases are accepted; the schema reports %d of the %d rejected cases", accepted, reported, refused)
	if accepted < 20 || reported < refused/2 {
		t.Error("the table has too few cases, or the schema reports too few mistakes")
	}
}

// The schema of a release accepts each object that the pipeline accepts for that release. The exception is a key that
// the server ignores: the pipeline only warns about it, but a schema cannot express warnings.
func TestCorpus(t *testing.T) {
	general := compile(t, "v1alpha2")
	for _, line := range release.Offered() {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			match, err := release.Lookup(line)
			testutil.Must(t, err)
			schema := compile(t, "v1alpha2-"+line)
			rel := match.Release
			cases := slices.Concat(corpus.Cases(rel), corpus.Random(rel, 1, 40))
			if line == release.DefaultLine() || line == slices.Max(release.Offered()) {
				cases = append(cases, corpus.Strange(rel)...)
			}
			accepted := 0
			for i := range cases {
				outcome, err := cases[i].Run()
				testutil.Must(t, err)
				if outcome.Refused != "" {
					continue
				}
				accepted++
				object := objectOf(t, cases[i].Object)
				for _, p := range problems(t, general, object) {
					t.Errorf("%s: %s: %s", cases[i].Name, p.path, p.text)
				}
				for _, p := range problems(t, schema, object) {
					if !ignored(outcome, p) {
						t.Errorf("%s: release schema: %s: %s", cases[i].Name, p.path, p.text)
					}
				}
			}
			if accepted < 100 {
				t.Errorf("only %d cases", accepted)
			}
		})
	}
}

// ignored reports whether the pipeline warns that the server ignores the key at which a problem is reported.
func ignored(outcome *corpus.Outcome, p problem) bool {
	_, key, _ := strings.Cut(p.path, "settings.")
	for _, warning := range outcome.Warnings {
		if key != "" && strings.Contains(warning.String(), key) {
			return true
		}
	}
	return false
}

func objectOf(t *testing.T, stack *v1alpha2.LlamaStackDistribution) map[string]any {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": v1alpha2.GroupVersion.String(), "kind": v1alpha2.Kind, "spec": stack.Spec,
		"metadata": map[string]any{"name": stack.Name, "namespace": stack.Namespace},
	})
	testutil.Must(t, err)
	var object map[string]any
	testutil.Must(t, json.Unmarshal(data, &object))
	return object
}
