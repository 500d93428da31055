package quantity_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

func TestParse(t *testing.T) {
	for text, costly := range map[string]bool{
		"1e-999999999": true, "1E+99999": true, "1e-1000": true, "\t1e9999": true, strings.Repeat("9", 33): true,
		strings.Repeat("0", 200_000): true,
		"1e999":                      false, "1E-12": false, "10Gi": false, "1Ei": false, "500m": false,
		"-1": false, "1.5e3": false,
		"": false, "e": false, "text": false, "1e1.5": false,
	} {
		got, err := quantity.Parse(text)
		if errors.Is(err, quantity.ErrCostly) != costly {
			t.Errorf("%.40q: error %v, want costly: %v", text, err, costly)
		}
		if costly {
			continue
		}
		want, wantErr := resource.ParseQuantity(text)
		if (err == nil) != (wantErr == nil) || got.Cmp(want) != 0 {
			t.Errorf("%q: %v, %v; want %v, %v", text, &got, err, &want, wantErr)
		}
	}
}

// FuzzForm checks that Parse accepts every text that the form in the definition matches, within the maximum
// length.
func FuzzForm(f *testing.F) {
	form := regexp.MustCompile(quantity.Form)
	for _, text := range []string{
		"1e-999999999", "1e5", "10Gi", ".5", "5.", "1Ei", "-2m", "+1", "1e+12", "0", "1E", "x", ".", "1e",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := quantity.Parse(text); form.MatchString(text) && len(text) <= quantity.MaxLength && err != nil {
			t.Errorf("the definition accepts %q: %v", text, err)
		}
	})
}
