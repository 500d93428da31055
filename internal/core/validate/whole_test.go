package validate

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// remedy matches a word that introduces the remedy or the accepted values in an error.
var remedy = regexp.MustCompile(`\b(write|take|set|remove|name|names|give|add|leave|keep|quote|choose|raise|lower|use|put|change|make|disable|belongs)\b|` +
	`did you mean|known (types|APIs|fields):|is neither .* nor |is not host:port or|is not a whole number greater than|require client certificates|combine|determines it|\bmust\b|\bneeds?\b|required|at most|cannot be|\(got|selects the pods|has no field`)

// Every error of every rule names the field, repeats the value unless the field may hold a secret, and states a remedy.
// The table has a case for each rule (TestRulesHaveCases), so this test fails for a new rule whose error does not have
// all three parts.
func TestErrorsAreComplete(t *testing.T) {
	for _, c := range loadCases(t).Cases {
		object, err := c.Decode()
		if err != nil {
			continue
		}
		for _, r := range rules {
			for _, err := range r.find(checksOf(object)) {
				if problem := incomplete(err); problem != "" {
					t.Errorf("%s/%s: rule %s: %s: %s", c.Topic, c.Name, r.name, problem, err)
				}
			}
		}
	}
}

// incomplete returns the missing part of an error, or an empty string when the error is complete.
func incomplete(err *field.Error) string {
	value := fmt.Sprint(err.BadValue)
	switch {
	case !strings.HasPrefix(err.Field, "spec.") && !strings.HasPrefix(err.Field, "metadata."):
		return "no path"
	case err.Type == field.ErrorTypeInvalid && err.BadValue != (field.OmitValueType{}) &&
		!strings.Contains(err.Detail, value):
		return "no value"
	case !remedy.MatchString(err.Detail):
		return "no remedy"
	}
	return ""
}
