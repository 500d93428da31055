package externalprovider_test

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
)

// The parser never panics, returns the same result for the same file, and accepts only values that are safe in a
// configuration and in a path.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add(strings.Replace(whole, "configSchema:", "configSchema: &a\n    more: *a", 1))
	f.Add("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := externalprovider.Parse([]byte(text))
		again, errAgain := externalprovider.FromLabel(base64.StdEncoding.EncodeToString([]byte(text)))
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(got, again) {
			t.Fatalf("two runs differ: %v %v and %v %v", got, err, again, errAgain)
		}
		if err != nil {
			if got != nil || !strings.HasPrefix(err.Error(), "lls-provider-spec.yaml: ") {
				t.Errorf("%v, %v", got, err)
			}
			return
		}
		if got.Type == externalprovider.UnknownType || strings.ContainsAny(got.Type+got.Module+got.API, " \t\r\n/${}'\"") {
			t.Errorf("%+v", got)
		}
		for _, wheel := range append(got.DependencyWheels, got.Wheel) {
			if strings.HasPrefix(wheel, "/") || strings.HasPrefix(wheel, "../") || strings.Contains(wheel, "/../") {
				t.Errorf("wheel %q", wheel)
			}
		}
	})
}
