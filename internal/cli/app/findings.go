package app

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
)

// Finding prints a finding as a message with its position in the file.
func (p Printer) Finding(s *dryrun.Stack, f *findings.Finding) {
	title := s.Title()
	if f.File != "" && f.Line > 0 {
		title = fmt.Sprintf("%s:%d:%d", f.File, f.Line, max(1, f.Column))
		if f.Stack != "" {
			title += ": " + f.Stack
		}
	}
	text := title + ": " + f.Text()
	switch f.Level {
	case findings.Error:
		p.Problem(text)
	case findings.Warning:
		p.Warning(text)
	default:
		p.Note(text)
	}
}
