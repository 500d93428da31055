package definition_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/definition"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func object(t testing.TB, version, metadata, spec string) map[string]any {
	t.Helper()
	var found map[string]any
	testutil.Must(t, yaml.Unmarshal([]byte("apiVersion: llamastack.io/"+version+"\nkind: LlamaStackDistribution\nmetadata: "+metadata+"\nspec: "+spec+"\n"), &found))
	return found
}

// TestSameAnswers in test/webhook compares many more objects with an API server.
func TestCheck(t *testing.T) {
	row := "[" + strings.Repeat("7,", 230) + "7]"
	many := "{distribution: {name: starter}, settings: {a: [" + strings.Repeat(row+",", 431) + row + "]}}"
	labels := "labels: {" + strings.Repeat("a%: b, ", 129) + "}"
	for i := range 129 {
		labels = strings.Replace(labels, "%", strconv.Itoa(i), 1)
	}
	const spec, older = "{distribution: {name: starter}}", "{server: {distribution: {name: starter}}}"
	for name, c := range map[string]struct {
		version, metadata, spec string
		want                    []string
	}{
		"valid":               {"v1alpha2", "{name: a}", spec, nil},
		"valid, generated":    {"v1alpha2", "{generateName: a-}", spec, nil},
		"valid v1alpha1":      {"v1alpha1", "{name: a}", older, nil},
		"unknown field":       {"v1alpha2", "{name: a, nam: b}", "{distribution: {name: starter}, a: {b: c}}", []string{"spec.a", "metadata.nam"}},
		"v1alpha1, unknown":   {"v1alpha1", "{name: a}", "{a: b, server: {distribution: {name: starter}}}", []string{"spec.a"}},
		"name":                {"v1alpha2", "{name: A}", spec, []string{"metadata.name"}},
		"no name":             {"v1alpha2", "{}", spec, []string{"metadata.name"}},
		"namespace":           {"v1alpha2", "{name: a, namespace: A}", spec, []string{"metadata.namespace"}},
		"label":               {"v1alpha2", "{name: a, labels: {a: b c}}", spec, []string{"metadata.labels"}},
		"finalizer":           {"v1alpha2", "{name: a, finalizers: [a b]}", spec, []string{"metadata.finalizers"}},
		"type":                {"v1alpha2", "{name: a}", "{distribution: {name: 5}}", []string{"spec.distribution.name"}},
		"null is absent":      {"v1alpha2", "{name: a}", "{distribution: {name: starter}, workload: null}", nil},
		"null in a list":      {"v1alpha2", "{name: a}", "{distribution: {name: starter}, disabled: [null]}", []string{"spec.disabled[0]"}},
		"a set has two":       {"v1alpha2", "{name: a}", "{distribution: {name: starter}, disabled: [eval, eval]}", []string{"spec.disabled[1]"}},
		"rule":                {"v1alpha2", "{name: a}", "{distribution: {name: starter, image: b}}", []string{"spec.distribution"}},
		"policy":              {"v1alpha2", "{name: a}", "{distribution: {name: starter}, providers: {inference: {provider: 5}}}", []string{"spec.providers.inference.provider"}},
		"many values":         {"v1alpha2", "{name: a}", many, nil},
		"policy, in v1alpha1": {"v1alpha1", "{name: a}", "{server: {distribution: {name: starter}, providers: {inference: {provider: 5}}}}", []string{"spec.server.providers.inference.provider"}},
		"labels":              {"v1alpha2", "{name: a, " + labels + "}", spec, []string{"metadata.labels"}},
		"labels, v1alpha1":    {"v1alpha1", "{name: a, " + labels + "}", older, []string{"metadata.labels"}},
		"another version":     {"v1", "{name: a}", "{}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			errs, err := definition.Check(object(t, c.version, c.metadata, c.spec), "default")
			testutil.Must(t, err)
			var paths []string
			for _, one := range errs {
				paths = append(paths, strings.TrimPrefix(one.Field, "."))
			}
			if diff := cmp.Diff(c.want, paths); diff != "" {
				t.Errorf("paths of %v (-want +got):\n%s", errs, diff)
			}
		})
	}
}
