package dryrun

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
)

// Reported returns the findings for one stack with their positions, and reports whether the stack is valid.
func Reported(s *Stack, found *Outcome, strict bool) (list []findings.Finding, valid bool) {
	add := func(level, rule string, texts []string) {
		for _, text := range texts {
			list = append(list, s.finding(level, rule, text))
		}
	}
	add(findings.Error, findings.RuleInvalid, found.Errors)
	add(findings.Warning, findings.RuleWarning, found.Warnings)
	add(findings.Warning, findings.RuleData, found.Lost)
	add(findings.Note, findings.RuleNote, found.Notes)
	s.place(list)
	return list, len(found.Errors) == 0 && (!strict || len(found.Warnings)+len(found.Lost) == 0)
}

// finding returns a finding without its position.
func (s *Stack) finding(level, rule, text string) findings.Finding {
	path, message := findings.Split(text)
	f := findings.Finding{
		Level: level, Rule: rule, Stack: s.Object.Name, Namespace: s.Object.Namespace, Path: path,
		Message: message,
	}
	if s.doc != nil {
		f.Origin, f.Document = s.doc.Origin, s.doc.Place
	}
	return f
}

// place sets the positions of findings to the positions of their fields. Findings about generated text that is not in a
// file have an origin and no position, because a user cannot edit the text. Findings about Helm output in a file have
// an origin and a position.
func (s *Stack) place(list []findings.Finding) {
	if s.doc == nil || s.isGenerated() {
		return
	}
	paths := make([]string, 0, len(list))
	for i := range list {
		paths = append(paths, list[i].Path)
	}
	for i, at := range s.doc.Positions(paths) {
		if list[i].Text() == s.doc.Problem {
			at = s.doc.ProblemPosition()
		}
		list[i].File, list[i].Line, list[i].Column = s.File, at.Line, at.Column
	}
}

// Lines returns the line numbers of field paths in the file. All line numbers are 0 if the stack does not come from a
// manifest.
func (s *Stack) Lines(paths []string) []int {
	lines := make([]int, len(paths))
	if s.doc != nil {
		for i, position := range s.doc.Positions(paths) {
			lines[i] = position.Line
		}
	}
	return lines
}

// isGenerated reports whether the text comes from standard input or another program, and not from a file.
func (s *Stack) isGenerated() bool { return s.File == document.StandardInput || s.File == s.doc.Origin }

// Checked returns the entry of a stack in a report.
func (s *Stack) Checked(valid bool) findings.Object {
	object := findings.Object{File: s.File, Stack: s.Object.Name, Namespace: s.Object.Namespace, Valid: valid}
	if s.doc == nil {
		return object
	}
	object.Origin = s.doc.Origin
	if s.isGenerated() {
		object.File = ""
	}
	return object
}
