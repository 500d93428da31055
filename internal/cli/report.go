package cli

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
)

// finding prints a finding as a message with its position in the file.
func (p printer) finding(s *dryrun.Stack, f *findings.Finding) {
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
		p.problem(text)
	case findings.Warning:
		p.warning(text)
	default:
		p.note(text)
	}
}

// refusedReport returns the report for files from which no stack can be read. It contains the problems with the files.
func refusedReport(rejected *rejection) *findings.Report {
	report := &findings.Report{
		Invalid: len(rejected.problems), Stacks: []findings.Object{},
		Findings: []findings.Finding{},
	}
	for _, problem := range rejected.problems {
		report.Findings = append(report.Findings, findings.Finding{
			Level: findings.Error, Rule: findings.RuleInvalid,
			Message: problem,
		})
	}
	return report
}
