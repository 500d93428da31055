package resolve

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// MaxBytes is the maximum size, in bytes, of everything that the operator reads by reference for one stack: the values
// of Secrets, certificates with their authorities, and the needed keys of ConfigMaps. No stack whose pods can start
// needs more. Linux accepts about 2 MiB of environment. The other parts are three ConfigMaps (its authorities, those of
// the platform, a configuration) and one Secret (a certificate) of at most 1 MiB each. Pull Secrets, which are read at
// other times, have a Budget of their own.
const MaxBytes = 6 << 20

// Budget counts what the operator reads by reference for one stack. The zero value is the whole budget.
type Budget struct{ used int }

// Take counts bytes. It returns false if the stack then has more than MaxBytes.
func (b *Budget) Take(bytes int) bool {
	b.used += bytes
	return b.used <= MaxBytes
}

// exceeded returns the failure for the reference that exceeds the budget.
func exceeded(condition, reason, what, path string) error {
	return &status.Failure{
		Condition: condition, Reason: reason, Retry: status.OnReferenceChange,
		Message: fmt.Sprintf("%s exceeds the limit of %d bytes for all values of Secrets and ConfigMaps that a stack refers to: "+
			"shorten the values, or remove references. Referenced by: %s", what, MaxBytes, path),
	}
}
