package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

// unknownValue returns the error for a value of a flag that is not allowed, with the allowed values and the nearest
// one.
func unknownValue(flag, value string, allowed []string) error {
	text := fmt.Sprintf("%s: %q is none of %s", flag, value, strings.Join(allowed, ", "))
	if nearest := suggest.Nearest(value, allowed); nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", nearest)
	}
	return errors.New(text)
}
