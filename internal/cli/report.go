package cli

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/findings"
)

// finding prints a finding for people. The position takes the place of the file's name.
func (p printer) finding(s *dryrun.Stack, f *findings.Finding) {
	text := s.Title() + ": " + f.Text()
	if f.File != "" && f.Line > 0 {
		text = fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, max(1, f.Column), f.Text())
		if f.Stack != "" {
			text = fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Line, max(1, f.Column), f.Stack, f.Text())
		}
	}
	switch f.Level {
	case findings.Error:
		p.problem(text)
	case findings.Warning:
		p.warning(text)
	default:
		p.note(text)
	}
}

// refusedReport returns the report of files without a stack to check.
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
