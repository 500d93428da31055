package change

import "github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"

// redactBoth returns two redacted values. It adds a mark to values that differ only in their redacted parts.
func redactBoth(path, from, to string) (before, after string) {
	before, after = redact.Setting(path, from), redact.Setting(path, to)
	if before == after && from != to {
		return before + " (before)", after + " (after)"
	}
	return before, after
}
