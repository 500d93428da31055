package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

func TestPreviousConfigMaps(t *testing.T) {
	config := func(name string, minute int) metav1.PartialObjectMetadata {
		return meta(name, names.ConfigKindGenerated, minute)
	}
	base := func(name string, minute int) metav1.PartialObjectMetadata {
		return meta(name, names.ConfigKindBase, minute)
	}
	for name, tc := range map[string]struct {
		existing []metav1.PartialObjectMetadata
		current  []string
		want     []string
	}{
		"nothing":                            {},
		"the first, before they are created": {current: []string{"c1", "b1"}},
		"current and previous": {
			existing: []metav1.PartialObjectMetadata{config("c1", 1), config("c3", 3), config("c2", 2)},
			current:  []string{"c3"}, want: []string{"c2"},
		},
		"a return to an older one": {
			existing: []metav1.PartialObjectMetadata{config("c1", 1), config("c2", 2), config("c3", 3)},
			current:  []string{"c1"}, want: []string{"c3"},
		},
		"bases and configurations are counted separately": {
			existing: []metav1.PartialObjectMetadata{
				config("c1", 1), config("c2", 2), config("c3", 3), base("b1", 1),
				base("b2", 2), base("b3", 4),
			},
			current: []string{"c3", "b3"}, want: []string{"b2", "c2"},
		},
		"the image's own configuration runs": {
			existing: []metav1.PartialObjectMetadata{config("c1", 1), config("c2", 2), base("b1", 1)},
			want:     []string{"c2", "b1"},
		},
		"another ConfigMap of the stack is not kept": {
			existing: []metav1.PartialObjectMetadata{config("c1", 1), meta("ca-bundle", "", 2)},
			current:  []string{"c1"},
		},
		"created in the same second": {
			existing: []metav1.PartialObjectMetadata{config("c2", 1), config("c1", 1), config("c3", 1)},
			current:  []string{"c3"}, want: []string{"c1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, plan.PreviousConfigMaps(tc.existing, tc.current)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func meta(name, kind string, minute int) metav1.PartialObjectMetadata {
	var result metav1.PartialObjectMetadata
	result.Name = name
	result.Labels = map[string]string{names.LabelConfig: kind}
	result.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
	return result
}
