package stackconfig_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// starterCases is the folder of the cases that use the base of the starter distribution. The other cases have their own
// base or share testdata/base.yaml.
const starterCases = "starter"

// minimalCase is the case with an empty spec. Each other case with the shared base shows only how its configuration
// differs from that of this case.
const minimalCase = "server/minimal"

// TestGenerate runs the cases in testdata, with one folder for each step. Each case produces a configuration, its
// environment and a report from cr.yaml and a base. The file kv-table of a case names the table that holds the stack's
// data, and its folder packages contains the metadata of the external providers' images.
func TestGenerate(t *testing.T) {
	minimal := filesOf(t, minimalCase)["config.yaml"]
	for _, step := range golden.Cases(t, "testdata") {
		for _, name := range golden.Cases(t, filepath.Join("testdata", step)) {
			t.Run(step+"/"+name, func(t *testing.T) {
				dir := filepath.Join("testdata", step, name)
				files := filesOf(t, step+"/"+name)
				config, ok := files["config.yaml"]
				if ok && step+"/"+name != minimalCase && bytes.Equal(baseOf(t, step, dir), sharedBase(t)) {
					delete(files, "config.yaml")
					files["config.diff"] = golden.Diff(minimal, config)
				}
				golden.Dir(t, filepath.Join(dir, "want"), files)
			})
		}
	}
}

// filesOf returns the files that a case produces.
func filesOf(t *testing.T, name string) map[string][]byte {
	t.Helper()
	dir := filepath.Join("testdata", name)
	wishes := readIntent(t, golden.Read(t, filepath.Join(dir, "cr.yaml")))
	base := parseBase(t, baseOf(t, filepath.Dir(name), dir))
	in := stackconfig.Input{Intent: wishes, Base: base, Release: releaseOf(t, wishes)}
	in.ReleaseUnknown, in.Packages = wishes.Distribution.Image != "", packagesOf(t, dir)
	in.Published = !in.ReleaseUnknown
	in.KVTable = strings.TrimSpace(string(golden.Files(t, dir)["kv-table"]))
	result, report := stackconfig.Generate(in)
	if (result == nil) != (len(report.Errors) > 0) {
		t.Errorf("result %v with %d errors", result, len(report.Errors))
	}
	return written(t, result, report)
}

func packagesOf(t *testing.T, dir string) map[string]*externalprovider.Package {
	t.Helper()
	packages := map[string]*externalprovider.Package{}
	for name, data := range golden.Files(t, filepath.Join(dir, "packages")) {
		found, err := externalprovider.Parse(data)
		if err != nil {
			t.Fatalf("%s: %s: %v", dir, name, err)
		}
		packages[strings.TrimSuffix(name, ".yaml")] = found
	}
	return packages
}

// releaseOf returns the release that a case names, or the default release if the case names none.
func releaseOf(t *testing.T, wishes *intent.Intent) *release.Release {
	t.Helper()
	if wishes.Distribution.Version == "" {
		return release.Default()
	}
	return mustRelease(t, wishes.Distribution.Version)
}

func baseOf(t *testing.T, step, dir string) []byte {
	t.Helper()
	if step == starterCases {
		return starter(t)
	}
	if own, ok := golden.Files(t, dir)["base.yaml"]; ok {
		return own
	}
	return sharedBase(t)
}

func sharedBase(t *testing.T) []byte {
	t.Helper()
	return golden.Read(t, filepath.Join("testdata", "base.yaml"))
}

func starter(t testing.TB) []byte {
	t.Helper()
	distribution, ok := release.Default().Distribution("starter")
	if !ok {
		t.Fatal("the default release ships no starter")
	}
	return []byte(distribution.YAML)
}

func parseBase(t testing.TB, data []byte) *baseconfig.Base {
	t.Helper()
	base, err := baseconfig.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func readIntent(t testing.TB, data []byte) *intent.Intent {
	t.Helper()
	var object v1alpha2.LlamaStackDistribution
	if err := yaml.UnmarshalStrict(data, &object); err != nil {
		t.Fatal(err)
	}
	in, errs := intent.FromObject(&object)
	if len(errs) > 0 {
		t.Fatalf("the case itself is wrong:\n%s", intent.Messages(errs))
	}
	return in
}

// written returns the files of a case. The origins include only the values that a field or a step wrote, and omit the
// values from the base.
func written(t *testing.T, result *stackconfig.Result, report *stackconfig.Report) map[string][]byte {
	t.Helper()
	told := struct {
		Errors      []string          `json:"errors,omitempty"`
		Warnings    []string          `json:"warnings,omitempty"`
		Providers   int               `json:"providers,omitempty"`
		Resources   int               `json:"resources,omitempty"`
		Version     string            `json:"version,omitempty"`
		Models      []string          `json:"models,omitempty"`
		Directories []string          `json:"directories,omitempty"`
		Origins     map[string]string `json:"origins,omitempty"`
		External    []string          `json:"external,omitempty"`
	}{}
	for _, err := range report.Errors {
		told.Errors = append(told.Errors, intent.Message(err))
	}
	for _, warning := range report.Warnings {
		told.Warnings = append(told.Warnings, warning.String())
	}
	files := make(map[string][]byte)
	if result != nil {
		told.Providers, told.Resources, told.Version = result.ProviderCount, result.ResourceCount, result.ConfigVersion
		told.Origins = make(map[string]string)
		for _, value := range report.Explain() {
			if value.Origin != "base" {
				told.Origins[value.Path] = value.Origin
			}
		}
		files["config.yaml"] = result.Config
		if len(result.Env) > 0 {
			files["env.yaml"] = marshal(t, map[string]any{"env": result.Env, "derived": result.Derived})
		}
		told.Directories = result.Directories
		for _, p := range result.External {
			told.External = append(told.External, fmt.Sprintf("%s/%s: type %q, module %q", p.API, p.ID, p.Type, p.Module))
		}
		for _, model := range result.Models {
			told.Models = append(told.Models, model.String())
		}
	}
	files["report.yaml"] = marshal(t, told)
	return files
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every step has a folder of cases. Every folder belongs to a step, except the one with whole distributions.
func TestEveryStepHasCases(t *testing.T) {
	want := append([]string{starterCases}, stackconfig.StepNames()...)
	slices.Sort(want)
	if got := golden.Cases(t, "testdata"); !slices.Equal(got, want) {
		t.Errorf("folders %v, steps %v", got, want)
	}
}
