package playground_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/playground"
)

// commandLine runs the command line with arguments, and returns its exit code and its outputs.
func commandLine(t testing.TB, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, "test", args)
	return code, stdout.String(), stderr.String()
}

func stack(spec string) string {
	return "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: demo}\nspec: " + spec + "\n"
}

func configText(s *playground.Stack) string {
	var text strings.Builder
	for _, line := range s.Config {
		text.WriteString(line.Text + "\n")
	}
	return text.String()
}

// The playground gives the same result as the command line, for all samples in every release and for v1alpha1
// manifests.
func TestSameAsCommandLine(t *testing.T) {
	samples, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(samples) < 4 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	older, err := filepath.Glob("../../test/contract/testdata/cases/*.yaml")
	if err != nil || len(older) < 20 {
		t.Fatalf("%d manifests of v1alpha1, %v", len(older), err)
	}
	known := playground.Known()
	rendered := 0
	for _, file := range samples {
		for _, asked := range append([]string{""}, known.Lines...) {
			t.Run(filepath.Base(file)+"@"+asked, func(t *testing.T) { rendered += compare(t, file, asked) })
		}
	}
	for _, file := range older {
		t.Run("v1alpha1/"+filepath.Base(file), func(t *testing.T) { rendered += compare(t, file, "") })
	}
	if rendered < 40 {
		t.Errorf("only %d stacks were rendered", rendered)
	}
}

// compare compares both results for a file, and returns the number of rendered stacks.
func compare(t *testing.T, file, asked string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := new(playground.Playground).Run(string(data), playground.Options{Release: asked, Objects: true})
	args := []string{"render", "-f", file}
	if asked != "" {
		args = append(args, "--release", asked)
	}
	if code, _, stderr := commandLine(t, append(args, "-o", "config")...); code != 0 {
		sameErrors(t, got.Findings, stderr)
		return 0
	}
	var config, objects strings.Builder
	var origins []string
	for i := range got.Stacks {
		config.WriteString(configText(&got.Stacks[i]))
		for _, object := range got.Stacks[i].Objects {
			objects.WriteString("---\n" + object.Text)
		}
		for _, line := range got.Stacks[i].Config {
			if line.Origin != "" {
				origins = append(origins, line.Origin)
			}
		}
	}
	_, want, _ := commandLine(t, append(args, "-o", "config")...)
	if diff := cmp.Diff(want, config.String()); diff != "" {
		t.Errorf("configuration (-command line +playground):\n%s", diff)
	}
	_, want, _ = commandLine(t, append(args, "-o", "all")...)
	if diff := cmp.Diff(want, objects.String()); diff != "" {
		t.Errorf("objects (-command line +playground):\n%s", diff)
	}
	_, want, _ = commandLine(t, append(args, "--explain", "-o", "json")...)
	var explained []stackconfig.Explained
	if err := json.Unmarshal([]byte(want), &explained); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, value := range explained {
		all = append(all, value.Origin)
	}
	if diff := cmp.Diff(all, origins); diff != "" {
		t.Errorf("origins (-command line +playground):\n%s", diff)
	}
	return len(got.Stacks)
}

// sameErrors checks that the command line prints every error that the playground reports.
func sameErrors(t *testing.T, got []findings.Finding, stderr string) {
	t.Helper()
	found := 0
	for _, finding := range got {
		if finding.Level != "error" {
			continue
		}
		found++
		if text := strings.TrimPrefix(finding.Path+": "+finding.Message, ": "); !strings.Contains(stderr, text) {
			t.Errorf("the command line does not print %q:\n%s", text, stderr)
		}
	}
	if found == 0 || found != strings.Count(stderr, "error: ") {
		t.Errorf("%d errors; the command line prints:\n%s", found, stderr)
	}
}

func TestRun(t *testing.T) {
	const valid = `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`
	for name, tc := range map[string]struct {
		manifest, release string
		// want lists the findings as text. An entry that ends with … is a prefix.
		want   []string
		stacks []string
	}{
		"nothing": {manifest: "", want: []string{"error 0 : no LlamaStackDistribution in the manifest"}},
		"another kind": {
			manifest: "apiVersion: v1\nkind: Pod\n",
			want:     []string{"error 0 : no LlamaStackDistribution in the manifest; found only Pod"},
		},
		"valid": {manifest: stack(valid), stacks: []string{"demo true " + playground.Known().Default}},
		"not YAML": {
			manifest: "kind: A\n---\nspec: [\n",
			want:     []string{"error 3 : is not valid YAML…"}, stacks: []string{" false "},
		},
		"a field and a value": {
			manifest: "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: demo\nspec:\n" +
				"  distribution:\n    nam: starter\n  replicas: many\n",
			want: []string{
				`error 7 spec.distribution.nam: unknown field…`, `error 8 spec.replicas: …`, `error 6 spec.distribution: …`,
			},
			stacks: []string{"demo false "},
		},
		"another release":    {manifest: stack(valid), release: "0.7", stacks: []string{"demo true 0.7"}},
		"an unknown release": {manifest: stack(valid), release: "9.9", want: []string{`error 4 spec.distribution.version: …`}, stacks: []string{"demo false "}},
		"the release of an image": {
			manifest: stack(`{distribution: {image: "example.com/a:1"}}`), release: "0.7",
			want:   []string{`error 4 spec.distribution.image: "example.com/a:1": the image determines the release…`},
			stacks: []string{"demo false "},
		},
		"missing ConfigMap": {
			manifest: stack(`{distribution: {name: starter}, baseConfig: {configMapName: mine}}`),
			want:     []string{`error 4 spec.baseConfig.configMapName: the text does not contain ConfigMap "mine" in namespace "default"; add the ConfigMap as another document`},
			stacks:   []string{"demo false "},
		},
		"too large": {
			manifest: stack(valid) + strings.Repeat("#", playground.MaxManifestBytes),
			want:     []string{"error 0 : the manifest is larger than 1024 KiB, the limit of the playground; remove part of the manifest, or use kubectl llamastack render"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := new(playground.Playground).Run(tc.manifest, playground.Options{Release: tc.release, Objects: true})
			var stacks, texts []string
			for i := range got.Stacks {
				s := &got.Stacks[i]
				stacks = append(stacks, fmt.Sprintf("%s %t %s", s.Name, s.Valid, s.Release))
				if s.Valid != (len(s.Config) > 0) || s.Valid != (len(s.Objects) > 0) || s.Valid != (s.Image != "") {
					t.Errorf("%s: valid %t, but %d lines and %d objects", s.Name, s.Valid, len(s.Config), len(s.Objects))
				}
			}
			for i, f := range got.Findings {
				text := fmt.Sprintf("%s %d %s: %s", f.Level, f.Line, f.Path, f.Message)
				if i < len(tc.want) {
					if prefix, ok := strings.CutSuffix(tc.want[i], "…"); ok && strings.HasPrefix(text, prefix) {
						text = tc.want[i]
					}
				}
				texts = append(texts, text)
			}
			if diff := cmp.Diff(tc.want, texts); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.stacks, stacks); diff != "" {
				t.Errorf("stacks (-want +got):\n%s", diff)
			}
		})
	}
}

// Each line of the configuration refers to the field that sets it, and to the line of that field in the manifest.
func TestOrigins(t *testing.T) {
	got := new(playground.Playground).Run(`apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: demo
spec:
  distribution:
    name: starter
  providers:
    inference:
      provider: vllm
      endpoint: http://vllm:8000
      settings:
        max_tokens: 8192
`, playground.Options{})
	if len(got.Stacks) != 1 {
		t.Fatalf("%d stacks: %v", len(got.Stacks), got.Findings)
	}
	lines := got.Stacks[0].Config
	for text, want := range map[string]playground.Line{
		"base_url: http://vllm:8000": {Origin: "spec.providers.inference.endpoint", Line: 11},
		"max_tokens: 8192":           {Origin: "spec.providers.inference.settings.max_tokens", Line: 13},
	} {
		i := slices.IndexFunc(lines, func(line playground.Line) bool {
			return strings.HasPrefix(strings.TrimSpace(line.Text), text)
		})
		if i < 0 {
			t.Errorf("no line %q in:\n%s", text, configText(&got.Stacks[0]))
		} else if !strings.HasPrefix(lines[i].Origin, want.Origin) || lines[i].Line != want.Line {
			t.Errorf("%q has the origin %q on line %d, want %q on line %d", text, lines[i].Origin, lines[i].Line, want.Origin,
				want.Line)
		}
	}
}

// A result has a limited number of stacks and findings.
func TestBounds(t *testing.T) {
	valid := stack(`{distribution: {name: starter}}`)
	got := new(playground.Playground).Run(strings.Repeat("---\n"+valid, 50), playground.Options{})
	if len(got.Stacks) != playground.MaxStacks {
		t.Errorf("%d stacks, want %d", len(got.Stacks), playground.MaxStacks)
	}
	if last := got.Findings[len(got.Findings)-1]; last.Message != "stacks not shown: 30; to see all stacks, use kubectl llamastack render" {
		t.Errorf("last finding: %q", last.Message)
	}
	var spec strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&spec, "unknown%d: 1, ", i)
	}
	wrong := stack("{" + spec.String() + "distribution: {name: starter}}")
	got = new(playground.Playground).Run(strings.Repeat("---\n"+wrong, 5), playground.Options{})
	if len(got.Findings) > playground.MaxFindings+1 {
		t.Errorf("%d findings", len(got.Findings))
	}
	if last := got.Findings[len(got.Findings)-1]; last.Level != "note" {
		t.Errorf("last finding: %v", last)
	}
}

// A run does not panic, and the same input gives the same result.
func FuzzRun(f *testing.F) {
	samples, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range samples {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "")
		f.Add(string(data), "0.7")
	}
	f.Add(stack("{distribution: {image: a}}"), "1.5")
	f.Add("a: &a [*a]\nkind: LlamaStackDistribution\n", "")
	f.Add("kind: LlamaStackDistribution\nspec: &a {<<: *a}\n", "x")
	f.Fuzz(func(t *testing.T, manifest, asked string) {
		options := playground.Options{Release: asked, Objects: true}
		var page playground.Playground
		first := page.Run(manifest, options)
		lines := strings.Count(manifest, "\n") + 1
		for _, finding := range first.Findings {
			if finding.Line < 0 || finding.Line > lines || finding.Message == "" {
				t.Errorf("finding outside of the manifest: %+v", finding)
			}
		}
		for i := range first.Stacks {
			for _, line := range first.Stacks[i].Config {
				if line.Line < 0 || line.Line > lines {
					t.Errorf("origin outside of the manifest: %+v", line)
				}
			}
		}
		if diff := cmp.Diff(first, page.Run(manifest, options)); diff != "" {
			t.Errorf("the second run differs:\n%s", diff)
		}
	})
}

// The effects of an edit are those that kubectl llamastack diff prints.
func TestChanges(t *testing.T) {
	const starter, other = "{distribution: {name: starter}}", "{distribution: {name: starter, version: \"1.5\"}}"
	for name, tc := range map[string]struct {
		earlier playground.Version
		want    string // a part of the text
	}{
		"the same":        {playground.Version{Manifest: stack(starter)}, ": no difference"},
		"a release":       {playground.Version{Manifest: stack(other)}, ": changes, and the pods restart"},
		"a chosen one":    {playground.Version{Manifest: stack(starter), Release: "1.5"}, ": changes, and the pods restart"},
		"no stack":        {playground.Version{}, ": new: the stack does not exist yet"},
		"an invalid spec": {playground.Version{Manifest: stack("{}")}, "has errors, so it cannot be compared"},
	} {
		t.Run(name, func(t *testing.T) {
			options := playground.Options{Earlier: &tc.earlier}
			got := new(playground.Playground).Run(stack(starter), options).Stacks[0].Changes
			if !strings.Contains(got, tc.want) {
				t.Errorf("%q is not in:\n%s", tc.want, got)
			}
		})
	}
	folder := t.TempDir()
	for file, text := range map[string]string{"earlier": stack(other), "manifest": stack(starter)} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	_, want, _ := commandLine(t, "diff", "-f", "manifest", "--previous", "earlier")
	options := playground.Options{Earlier: &playground.Version{Manifest: stack(other)}}
	got := new(playground.Playground).Run(stack(starter), options)
	if diff := cmp.Diff(want, got.Stacks[0].Changes); diff != "" {
		t.Errorf("changes (-command line +playground):\n%s", diff)
	}
}

// TestRunsAreIndependent compares each run of a shared Playground with the single run of a new one. The manifests are
// those that a user creates while editing.
func TestRunsAreIndependent(t *testing.T) {
	two := stack("{distribution: {name: starter}}") + "---\n" +
		strings.Replace(stack("{distribution: {name: starter}, workload: {replicas: 0}}"), "name: demo", "name: second", 1)
	manifests := []string{
		stack("{distribution: {name: starter}}"),
		"# comment\n" + stack("{distribution: {name: starter}}"),
		stack("{distribution: {name: starter}, workload: {replicas: 0}}"),
		stack("{distribution: {name: starter}, workload: {replicas: many}}"),
		stack("{distribution: {name: starter}, workload: {replicas: 0}}"),
		two,
		strings.Replace(two, "name: second", "name: demo", 1),
		"",
		two,
	}
	var page playground.Playground
	for i, manifest := range manifests {
		for _, objects := range []bool{true, false, true} {
			options := playground.Options{Objects: objects}
			want := new(playground.Playground).Run(manifest, options)
			if diff := cmp.Diff(want, page.Run(manifest, options)); diff != "" {
				t.Errorf("manifest %d, objects %t: the run depends on the previous runs:\n%s", i, objects, diff)
			}
		}
	}
}
