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
		p.block(s.Title(), color, f, place)
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

// block prints a finding for a terminal.
func (p Printer) block(heading, color string, f *findings.Finding, place string) {
	if heading = visible.Line(heading); *p.heading != heading {
		p.Line("%s", heading)
		*p.heading = heading
	}
	p.colored(color, "  "+f.Level, strings.TrimSpace(place+" "+visible.Line(f.Path)))
	remedy, rest := advice.Parts(advice.Cut(visible.Line(f.Message)))
	if remedy != "" {
		_, _ = fmt.Fprint(p.W, p.wrapped(len("    "), "→ "+remedy))
	}
	_, _ = fmt.Fprint(p.W, p.wrapped(len("    "), rest))
}

// wrapped returns a text as lines of the terminal, with an indent.
func (p Printer) wrapped(indent int, text string) string {
	spaces := strings.Repeat(" ", indent)
	lines := layout.Wrap(text, max(layout.MinWidth, p.width)-indent)
	return spaces + strings.Join(lines, "\n"+spaces) + "\n"
}
