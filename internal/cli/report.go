package cli

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/findings"
)

// reported returns the findings for one stack with their positions, and whether the stack is valid.
func reported(s *stack, found *outcome, strict bool) (list []findings.Finding, valid bool) {
	add := func(level, rule string, texts []string) {
		for _, text := range texts {
			list = append(list, s.finding(level, rule, text))
		}
	}
	add(findings.Error, findings.RuleInvalid, found.errs)
	add(findings.Warning, findings.RuleWarning, found.warnings)
	add(findings.Warning, findings.RuleData, found.lost)
	add(findings.Note, findings.RuleNote, found.notes)
	return list, len(found.errs) == 0 && (!strict || len(found.warnings)+len(found.lost) == 0)
}

// finding returns a finding at the position of its field. Generated text has no position that a user can edit, so its
// origin takes the place of the file. Only Helm output in a file has both.
func (s *stack) finding(level, rule, text string) findings.Finding {
	path, message := findings.Split(text)
	f := findings.Finding{
		Level: level, Rule: rule, Stack: s.object.Name, Namespace: s.object.Namespace, Path: path,
		Message: message,
	}
	if s.doc == nil {
		return f
	}
	f.Origin, f.Document = s.doc.Origin, s.doc.Place
	if s.isGenerated() {
		return f
	}
	at := s.doc.Position(path)
	if text == s.doc.Problem {
		at = s.doc.ProblemPosition()
	}
	f.File, f.Line, f.Column = s.file, at.Line, at.Column
	return f
}

// isGenerated reports whether no file holds the text.
func (s *stack) isGenerated() bool { return s.file == "-" || s.file == s.doc.Origin }

// checked returns a stack as an object of a report.
func (s *stack) checked(valid bool) findings.Object {
	object := findings.Object{File: s.file, Stack: s.object.Name, Namespace: s.object.Namespace, Valid: valid}
	if s.doc == nil {
		return object
	}
	object.Origin = s.doc.Origin
	if s.isGenerated() {
		object.File = ""
	}
	return object
}

// finding prints a finding for people. The position takes the place of the file's name.
func (p printer) finding(s *stack, f *findings.Finding) {
	text := s.title() + ": " + f.Text()
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
