package stackconfig_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

var (
	// fieldPath matches the start of an error: a field of the spec, or a path in a base configuration.
	fieldPath = regexp.MustCompile(`^([A-Za-z_]+)((\.[A-Za-z_]+)|(\[[0-9]+\]))*(\[[^]]+\])?: `)
	// remedy matches a word that introduces the remedy or the accepted values in an error.
	remedy = regexp.MustCompile(`\b(write|take|takes|set|remove|name|give|add|leave|keep|quote|choose|use|put|move|change|serve|disable|belongs|required|must|needs?|requires)\b|` +
		`did you mean|known (types|APIs):|available:|is now called|keys of this type:|the first release with this|the last release with this|is not a whole number greater than`)
)

const inBase = "(in the base configuration)"

// Every error names a field of the spec or a path in the base configuration, and states the remedy or the accepted
// values. The test uses the cases of the golden files.
func TestErrorsAreComplete(t *testing.T) {
	seen := 0
	for _, step := range golden.Cases(t, "testdata") {
		for _, name := range golden.Cases(t, filepath.Join("testdata", step)) {
			for _, message := range errorsIn(t, filepath.Join("testdata", step, name, "want", "report.yaml")) {
				seen++
				if problem := incomplete(message); problem != "" {
					t.Errorf("%s/%s: %s: %s", step, name, problem, message)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no case has an error")
	}
}

func errorsIn(t *testing.T, file string) []string {
	t.Helper()
	var report struct{ Errors []string }
	if err := yaml.Unmarshal(golden.Read(t, file), &report); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return report.Errors
}

// incomplete returns the missing part of an error, or an empty string when the error is complete.
func incomplete(message string) string {
	path := fieldPath.FindString(message)
	switch {
	case path == "" || !strings.HasPrefix(path, "spec.") && !strings.HasSuffix(message, inBase):
		return "no path"
	case !remedy.MatchString(strings.TrimPrefix(message, path)):
		return "no remedy"
	}
	return ""
}
