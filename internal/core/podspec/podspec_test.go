package podspec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podspec"
)

// The cases in internal/core/validate/testdata/cases/children.yaml cover the rules, and test/api: TestChildren compares
// the rules with those of an API server. The tests here cover only what cannot be written in a stack without other
// errors.

// TestHugePages checks names of resources that contain a size. A size that would take a long time to parse is invalid.
func TestHugePages(t *testing.T) {
	for name, tc := range map[string]struct {
		amount string
		want   []string
	}{
		"hugepages-2Mi":          {"4Mi", nil},
		"hugepages-3Mi":          {"4Mi", []string{"limits[hugepages-3Mi]"}},
		"hugepages-0":            {"4Mi", []string{"limits[hugepages-0]"}},
		"hugepages-1e-999999999": {"4Mi", []string{"limits[hugepages-1e-999999999]"}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := corev1.ResourceList{
				corev1.ResourceName(name): resource.MustParse(tc.amount), corev1.ResourceCPU: resource.MustParse("1"),
			}
			errs := podspec.Resources(field.NewPath("resources"), &corev1.ResourceRequirements{Limits: limits}, nil)
			var got []string
			for _, err := range errs {
				got = append(got, err.Field[len("resources."):])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
