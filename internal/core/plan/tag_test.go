package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// An image whose release is known only from its tag does not get the container settings for that release, unless its
// pods already have them.
func TestContainerOfAnImageWithATag(t *testing.T) {
	const generated = "baseConfig: {configMapName: base}\ndisabled: [eval]\n"
	type seen struct {
		insecure, tmp, command, warned bool
	}
	for name, tc := range map[string]struct {
		image, spec string
		older, want seen // as v1alpha1, and as v1alpha2
	}{
		"a user's 1.2":    {image: "quay.io/team/llama:1.2", older: seen{warned: true}, want: seen{warned: true}},
		"a user's v1.4.1": {image: "quay.io/team/llama:v1.4.1", older: seen{warned: true}, want: seen{warned: true}},
		"a user's 0.7":    {image: "quay.io/team/llama:0.7.3"},
		"published":       {image: "docker.io/ogxai/distribution-starter:1.2.5", older: seen{insecure: true, tmp: true}, want: seen{insecure: true, tmp: true}},
		"generated, 1.2":  {image: "quay.io/team/llama:1.2", spec: generated},
		"generated, 0.2": {
			image: "quay.io/team/llama:0.2.24", spec: generated, older: seen{warned: true},
			want: seen{warned: true},
		},
		"generated, 0.2 known": {
			image: "llamastack/distribution-starter:0.2.24", spec: generated, older: seen{command: true},
			want: seen{command: true},
		},
		"own command": {
			image: "quay.io/team/llama:1.2", spec: "workload: {overrides: {command: [serve]}}\n",
		},
	} {
		for _, compat := range []bool{true, false} {
			in, want := input(t, "distribution: {image: \""+tc.image+"\"}\n"+tc.spec), tc.want
			if compat {
				in, want = mark(in), tc.older
			}
			if tc.spec == generated {
				in.Base = input(t, "distribution: {name: starter, version: \""+in.Distribution.Release.Line+"\"}\n").Base
			}
			built := build(t, in)
			server := container(t, built)
			got := seen{
				insecure: slices.Equal(server.Args, []string{"--insecure"}),
				tmp:      strings.Contains(text(t, built.Objects), "medium: Memory"),
				command:  len(server.Command) > 1,
				warned: slices.ContainsFunc(built.Warnings, func(f stackconfig.Finding) bool {
					return strings.HasPrefix(f.Message, "only the tag of image")
				}),
			}
			if got != want {
				t.Errorf("%s, v1alpha1 %v: %+v, want %+v; warnings %v", name, compat, got, want, built.Warnings)
			}
			if line := built.Rendered.Record.Distribution.Release; !strings.Contains(tc.image, line) {
				t.Errorf("%s: the record has release %s", name, line)
			}
		}
	}
}
