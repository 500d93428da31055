package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/advice"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
)

// Remarks prints the warnings and notes for one stack.
func (p Printer) Remarks(s dryrun.Stack, found dryrun.Outcome) {
	found.Errors = nil
	p.All(s, found)
}

// All prints the errors, warnings and notes for one stack.
func (p Printer) All(s dryrun.Stack, found dryrun.Outcome) {
	for _, group := range []struct {
		level string
		texts []string
	}{
		{findings.Error, found.Errors},
		{findings.Warning, slices.Concat(found.Warnings, found.Lost)},
		{findings.Note, found.Notes},
	} {
		for _, text := range group.texts {
			f := findings.Finding{Level: group.level, Message: text}
			if p.width > 0 {
				f.Path, f.Message = findings.Split(text)
			}
			p.Finding(&s, &f)
		}
	}
}

// Finding prints a finding as a message with its position in the file. On a terminal, it prints a heading for each
// stack, and the remedy before the problem.
func (p Printer) Finding(s *dryrun.Stack, f *findings.Finding) {
	place := ""
	if f.File != "" && f.Line > 0 {
		place = fmt.Sprintf("%d:%d", f.Line, max(1, f.Column))
	}
	color := map[string]string{findings.Error: red, findings.Warning: yellow}[f.Level]
	if p.width > 0 {
		p.block(s.Title(), color, strings.TrimSpace(f.Level+" "+place), f.Path, f.Message)
		return
	}
	title := s.Title()
	if place != "" {
		title = f.File + ":" + place
		if f.Stack != "" {
			title += ": " + f.Stack
		}
	}
	p.labeled(color, f.Level+":", title+": "+f.Text())
}

// located splits a message into what is before the path of a field, the path, and the rest. The path is empty if the
// message does not name a field near its beginning.
func located(message string) (before, path, rest string) {
	for at := 0; at < maxHeading; {
		if path, rest = findings.Split(message[at:]); path != "" {
			return strings.TrimSuffix(message[:at], ": "), path, rest
		}
		next := strings.Index(message[at:], ": ")
		if next < 0 {
			break
		}
		at += next + len(": ")
	}
	return "", "", message
}

// maxHeading is the maximum length of a heading. A longer text before the path of a field is a sentence.
const maxHeading = 70

// block prints a message about a field for a terminal.
func (p Printer) block(heading, color, label, path, message string) {
	if heading = visible.Line(heading); *p.heading != heading {
		p.Line("%s", heading)
		*p.heading = heading
	}
	p.colored(color, "  "+label, visible.Line(path))
	remedy, rest := advice.Parts(advice.Cut(visible.Line(message)))
	if remedy != "" {
		_, _ = fmt.Fprint(p.W, p.wrapped(len("    "), "-> "+remedy))
	}
	_, _ = fmt.Fprint(p.W, p.wrapped(len("    "), rest))
}

// wrapped returns a text as lines of the terminal, with an indent.
func (p Printer) wrapped(indent int, text string) string {
	spaces := strings.Repeat(" ", indent)
	lines := layout.Wrap(text, max(layout.MinWidth, p.width)-indent)
	return spaces + strings.Join(lines, "\n"+spaces) + "\n"
}
