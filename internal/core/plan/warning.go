package plan

import (
	"fmt"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// Warnings returns the warnings about the spec, and after them those of a plan that are not among them. The webhook,
// the status and the command line report this list, so they use the same words.
func Warnings(ofSpec []string, findings []stackconfig.Finding) []string {
	warnings, seen := slices.Clone(ofSpec), map[string]bool{}
	for _, text := range ofSpec {
		seen[text] = true
	}
	for _, finding := range findings { // a ConfigMap can cause tens of thousands
		if text := finding.String(); !seen[text] {
			seen[text] = true
			warnings = append(warnings, text)
		}
	}
	return warnings
}

const (
	// maxKept is the maximum number of warnings in a status, and maxKeptLength the maximum length of each in characters.
	maxKept       = 20
	maxKeptLength = 300
)

// Kept returns the warnings for a status, which are bounded. Its last entry is the number of those that it leaves out.
func Kept(warnings []string) []string {
	var kept []string
	for i, warning := range warnings {
		if i == maxKept-1 && len(warnings) > maxKept {
			return append(kept, fmt.Sprintf("and %d more; kubectl llamastack validate prints them", len(warnings)-i))
		}
		if text := []rune(warning); len(text) > maxKeptLength {
			warning = string(text[:maxKeptLength-1]) + "…"
		}
		kept = append(kept, warning)
	}
	return kept
}
