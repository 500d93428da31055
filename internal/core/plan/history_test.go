package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

func TestPreviousConfigMaps(t *testing.T) {
	for name, tc := range map[string]struct{ existing, current, want string }{
		"nothing":                                         {},
		"the first, before they are created":              {current: "c1 b1"},
		"current and previous":                            {"c1@1 c3@3 c2@2", "c3", "c2"},
		"a return to an older one":                        {"c1@1 c2@2 c3@3", "c1", "c3"},
		"bases and configurations are counted separately": {"c1@1 c2@2 c3@3 b1@1 b2@2 b3@4", "c3 b3", "b2 c2"},
		"the image's own configuration runs":              {"c1@1 c2@2 b1@1", "", "c2 b1"},
		"another ConfigMap of the stack is not kept":      {"c1@1 other@2", "c1", ""},
		"created in the same second":                      {"c2@1 c1@1 c3@1", "c3", "c1"},
	} {
		t.Run(name, func(t *testing.T) {
			var existing []metav1.PartialObjectMetadata
			for text := range strings.FieldsSeq(tc.existing) {
				existing = append(existing, meta(text))
			}
			got := strings.Join(plan.PreviousConfigMaps(existing, strings.Fields(tc.current)), " ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// meta returns the metadata of a ConfigMap in the form NAME@MINUTE. A configuration has the prefix c, and a base the
// prefix b.
func meta(text string) metav1.PartialObjectMetadata {
	var result metav1.PartialObjectMetadata
	name, minute, _ := strings.Cut(text, "@")
	kind := map[byte]string{'c': names.ConfigKindGenerated, 'b': names.ConfigKindBase}[name[0]]
	result.Name, result.Labels = name, map[string]string{names.LabelConfig: kind}
	result.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, int(minute[0]-'0'), 0, 0, time.UTC))
	return result
}
