package absorb

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// compare records each path at which the configurations differ.
func (j *judgment) compare(got, want any, path []string) {
	if equal(got, want) {
		return
	}
	ours, isObject := got.(object)
	theirs, bothObjects := want.(object)
	switch {
	case isObject && bothObjects:
		j.compareKeys(ours, theirs, path)
	case len(path) == 1 && path[0] == "apis":
		j.differs(path, fmt.Sprintf("your configuration lists these APIs: %s; the fields of the spec result in these APIs: %s", listed(textsOf(want)), listed(textsOf(got))))
	case len(path) == 2 && path[0] == "providers":
		j.compareProviders(listAt(got), listAt(want), path)
	default:
		j.differs(path, "the fields of the spec result in a different value")
	}
}

func (j *judgment) compareKeys(got, want object, path []string) {
	for _, key := range sortedKeys(want) {
		below := append(slices.Clone(path), key)
		value, there := got[key]
		switch {
		case there:
			j.compare(value, want[key], below)
		case want[key] == nil:
			j.differs(below, "the value is null, and no field of the spec can write null; to use the server's default, remove the key from the configuration")
		default:
			j.differs(below, "no field of the spec can set this key")
		}
	}
	for _, key := range sortedKeys(got) {
		if _, there := want[key]; !there {
			j.differs(append(slices.Clone(path), key), "the generated configuration has this key, but your configuration does not, and no field of the spec can remove it")
		}
	}
}

// compareProviders reports differences in the list of providers or in individual providers. The order of the list
// matters, because clients see it.
func (j *judgment) compareProviders(got, want []any, path []string) {
	ours, theirs := idsOf(got), idsOf(want)
	if !slices.Equal(ours, theirs) {
		j.differs(path, fmt.Sprintf("your configuration has these providers, in this order: %s; the fields of the spec result in this order: %s", listed(theirs), listed(ours)))
		return
	}
	for i := range want {
		j.compare(got[i], want[i], append(slices.Clone(path), fmt.Sprintf("[%d]", i)))
	}
}

func textsOf(list any) []string {
	var found []string
	texts(list, func(text string) { found = append(found, text) })
	return found
}

func idsOf(entries []any) []string {
	ids := make([]string, len(entries))
	for i := range entries {
		ids[i] = textAt(entries[i], "provider_id")
	}
	return ids
}

func listed(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// differs records a difference. If there is a hint for the path, it adds the hint to the reason.
func (j *judgment) differs(path []string, why string) {
	if text := hint(path); text != "" {
		why += "; " + text
	}
	j.stay(strings.ReplaceAll(strings.Join(path, "."), ".[", "["), why)
}

// hints explain the differences in sections that settings must not change.
var hints = map[string]string{
	"version":              "this key comes from the distribution's own configuration",
	"distro_name":          "this key comes from the distribution's own configuration",
	"image_name":           "this key comes from the distribution's own configuration",
	"registered_resources": "spec.resources can add entries and replace entries with the same name, but cannot remove entries",
	"storage":              "spec.storage sets only the locations of the key-value store and the relational store",
}

func hint(path []string) string {
	if text := hints[path[0]]; text != "" {
		return text
	}
	if instead, _ := intent.Owned(path...); path[0] == "server" {
		return instead
	}
	return ""
}

// environment records each variable in the configuration that would have a different value in the pod.
func (j *judgment) environment(built *plan.Plan) {
	before, after := variables(container(j.before)), variables(container(built))
	seen := map[string]bool{}
	texts(j.builder.want, func(text string) {
		for reference := range envref.Server.All(text) {
			seen[reference.Name] = true
		}
	})
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if !equality.Semantic.DeepEqual(before[name], after[name]) {
			j.stay("${env."+name+"}", "with a generated configuration, this variable would have a different value "+
				"in the pod")
		}
	}
}

// container returns the server's container, or an empty one if there is none.
func container(of *plan.Plan) corev1ac.ContainerApplyConfiguration {
	return ptr.Deref(of.Server(), corev1ac.ContainerApplyConfiguration{})
}

func variables(container corev1ac.ContainerApplyConfiguration) map[string]corev1ac.EnvVarApplyConfiguration {
	found := make(map[string]corev1ac.EnvVarApplyConfiguration, len(container.Env))
	for _, variable := range container.Env {
		found[*variable.Name] = variable
	}
	return found
}
