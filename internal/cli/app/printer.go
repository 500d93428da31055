package app

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

// Rejection is an error, for example about an invalid manifest, for which the exit code is 1 unless `code` is set. A
// command may already have printed some of the problems.
type Rejection struct {
	// Problems are messages. The printer writes each message on a separate line.
	Problems []string
	// Summary is the last line. Empty means that there is no such line.
	Summary string
	// Code is the exit code. Zero means 1.
	Code int
}

// Error returns the summary.
func (r *Rejection) Error() string { return r.Summary }

// Printer writes messages for people.
type Printer struct {
	W     io.Writer
	color bool
}

// NewPrinter returns a printer for the streams of a command.
func NewPrinter(streams Streams) Printer {
	return Printer{W: streams.Err, color: streams.colored()}
}

const (
	red    = "31"
	yellow = "33"
	green  = "32"
)

// labeled prints a message on one line, after a label, which has a color.
func (p Printer) labeled(color, label, message string) {
	message = visible.Line(message)
	if !p.color {
		p.Line("%s %s", label, message)
		return
	}
	_, _ = fmt.Fprintf(visible.Raw(p.W), "\x1b[%sm%s\x1b[0m %s\n", color, label, message)
}

// Line prints a formatted line.
func (p Printer) Line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.W, format+"\n", args...)
}

// Rejection prints the problems and the summary of a rejection.
func (p Printer) Rejection(r *Rejection) {
	for _, problem := range r.Problems {
		p.Problem(problem)
	}
	if r.Summary != "" {
		p.Line("%s", r.Summary)
	}
}

// Problem prints a message after "error:".
func (p Printer) Problem(message string) { p.labeled(red, "error:", message) }

// Warning prints a message after "warning:".
func (p Printer) Warning(message string) { p.labeled(yellow, "warning:", message) }

// Note prints a message after "note:".
func (p Printer) Note(message string) { p.Line("note: %s", visible.Line(message)) }

// Remarks prints the warnings and notes for one stack.
func (p Printer) Remarks(s dryrun.Stack, found dryrun.Outcome) {
	for _, warning := range slices.Concat(found.Warnings, found.Lost) {
		p.Warning(s.Title() + ": " + warning)
	}
	for _, note := range found.Notes {
		p.Note(s.Title() + ": " + note)
	}
}

// OK prints a message after "ok:".
func (p Printer) OK(message string) { p.labeled(green, "ok:", message) }

// Rejected returns an error as a rejection, for which the exit code is 1. It does not change a rejection.
func Rejected(err error) error {
	if rejected, is := errors.AsType[*Rejection](err); is {
		return rejected
	}
	return &Rejection{Problems: []string{err.Error()}}
}

// OrSummary returns an error as a rejection with a summary. It does not change a rejection.
func OrSummary(err error, summary string) error {
	if _, said := errors.AsType[*Rejection](err); err == nil || said {
		return err
	}
	return &Rejection{Problems: []string{err.Error()}, Summary: summary}
}
