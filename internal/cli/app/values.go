package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// APIVersions lists the API versions of stacks.
var APIVersions = []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version}

// UnknownValue returns the error for a value that a flag does not accept. The error names the accepted values, and the
// most similar accepted value if one is similar enough.
func UnknownValue(flag, value string, allowed []string) error {
	text := fmt.Sprintf("%s: %q is not a valid value; use one of %s", flag, value, strings.Join(allowed, ", "))
	if nearest := suggest.Nearest(value, allowed); nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", nearest)
	}
	return errors.New(text)
}
