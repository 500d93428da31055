package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

const ogxServers = "testdata/ogxserver"

// The test compares the output and the messages for ogx-k8s-operator manifests with golden files. The commands validate
// and render accept each converted stack.
func TestConvertOGXServer(t *testing.T) {
	for _, name := range golden.Cases(t, ogxServers) {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(ogxServers, name)
			got := run(t, string(golden.Read(t, filepath.Join(folder, "in.yaml"))), "convert", "-f", "-")
			got.mustExit(t, 0)
			golden.Dir(t, filepath.Join(folder, "want"), map[string][]byte{
				"out.yaml":     []byte(got.out),
				"messages.txt": []byte(got.err),
			})
			if again := run(t, got.out, "convert", "-f", "-"); again.out != got.out {
				t.Errorf("a second conversion changes the output (-once +twice):\n%s", cmp.Diff(got.out, again.out))
			}
			for _, verb := range []string{"validate", "render"} {
				run(t, got.out, verb, "-f", "-").exits(t, 0, verb)
			}
		})
	}
}

// The stack that is converted from an OGXServer is valid for every release from 0.8 on.
func TestConvertOGXServerOfEachRelease(t *testing.T) {
	source := string(golden.Read(t, filepath.Join(ogxServers, "generated", "in.yaml")))
	source = strings.ReplaceAll(source, "monitoring: {}", "monitoring: {enabled: false}\nstatus: {version: {serverVersion: RELEASE}}")
	tried := 0
	for _, version := range distribution.Versions("starter") {
		if release.Compare(version, "0.8.0") < 0 {
			continue
		}
		tried++
		in := strings.Replace(source, "RELEASE", version, 1)
		if strings.HasPrefix(version, "0.8.") { // these releases have neither of the two providers
			in = withoutLines(in, "        auto:", "        markitdown:")
		}
		got := run(t, in, "convert", "-f", "-")
		got.exits(t, 0)
		contains(t, got.out, "version: "+version+"\n")
		run(t, got.out, "render", "-f", "-", "-o", "config").exits(t, 0, version)
	}
	if tried < 6 {
		t.Errorf("only %d releases were tested", tried)
	}
}

func withoutLines(text string, starts ...string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(line, start) })
	}), "")
}

func TestConvertOGXServerRefusals(t *testing.T) {
	ogx := func(spec string) string {
		return "apiVersion: ogx.io/v1beta1\nkind: OGXServer\nmetadata: {name: demo}\nspec: " + spec + "\n"
	}
	const good = "{distribution: {name: starter}}"
	for name, tc := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"unknown field": {
			ogx("{distribution: {name: starter}, network: {prot: 80}}"), nil,
			"error: standard input: document 1: demo: spec.network.prot: unknown field; did you mean \"port\"?\nnothing was converted\n",
		},
		"unknown field of a provider": {
			ogx("{distribution: {name: starter}, providers: {inference: {remote: {vllm: [{endpont: a}]}}}}"), nil,
			`spec.providers.inference.remote.vllm[0].endpont: unknown field; did you mean "endpoint"?`,
		},
		"value of a wrong type":    {ogx("{distribution: {name: starter}, network: {port: http}}"), nil, "spec.network.port: must be a whole number"},
		"required":                 {ogx("{distribution: {name: starter}, providers: {inference: {remote: {openai: [{id: a}]}}}}"), nil, "spec.providers.inference.remote.openai[0].apiKey: required"},
		"no distribution":          {ogx("{}"), nil, "spec.distribution: required"},
		"two distributions":        {ogx("{distribution: {name: starter, image: a}}"), nil, "spec.distribution: name and image are mutually exclusive"},
		"neither name nor image":   {ogx("{distribution: {}}"), nil, "spec.distribution: set name"},
		"no spec":                  {ogx("null"), nil, "spec: required"},
		"no name":                  {strings.Replace(ogx(good), "{name: demo}", "{}", 1), nil, "metadata.name: required: set the name of the OGXServer"},
		"another version":          {strings.Replace(ogx(good), "v1beta1", "v1", 1), nil, `apiVersion: this command does not read version "ogx.io/v1" of OGXServer; use ogx.io/v1beta1`},
		"a misspelled kind":        {strings.Replace(ogx(good), "OGXServer", "OgxServer", 1), nil, `kind: this command does not convert the kind "OgxServer"; use OGXServer`},
		"another kind":             {strings.Replace(ogx(good), "OGXServer", "OGXModel", 1), nil, `kind: this command does not convert the kind "OGXModel"`},
		"no kind":                  {strings.Replace(ogx(good), "kind: OGXServer\n", "", 1), nil, "kind: required; set OGXServer"},
		"key that is set twice":    {ogx(good) + "spec: {}\n", nil, `key "spec" already set in map; remove one of the two keys`},
		"conversion to v1alpha1":   {ogx(good), []string{"--to", "v1alpha1"}, "kind: an OGXServer can only be converted to llamastack.io/v1alpha2; remove --to"},
		"only kinds of other APIs": {"kind: Deployment\napiVersion: apps/v1\n", nil, "error: no LlamaStackDistribution or OGXServer in standard input; this command does not convert the kinds that it found: Deployment\nnothing was converted\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.in, append([]string{"convert", "-f", "-"}, tc.args...)...)
			got.refuses(t, 1, tc.want)
		})
	}
}
