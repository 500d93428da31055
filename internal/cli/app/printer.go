package app

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/advice"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
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
	// width is the number of columns of the terminal. Without a terminal, it is 0, and each message is one line, which
	// other programs can read.
	width int
	// heading is the last heading on the terminal.
	heading *string
}

// NewPrinter returns a printer for the streams of a command.
func NewPrinter(streams Streams) Printer {
	return Printer{W: streams.Err, color: streams.colored(), width: streams.MessageWidth, heading: new(string)}
}

const (
	red    = "31"
	yellow = "33"
	green  = "32"
)

// labeled prints a message after a label, which has a color. The message is on one line, except on a terminal.
func (p Printer) labeled(color, label, message string) {
	message = visible.Line(message)
	if p.width > 0 {
		if heading, path, rest := located(message); heading != "" {
			p.block(heading, color, strings.TrimSuffix(label, ":"), path, rest)
			return
		}
		*p.heading = ""
		first, further, _ := strings.Cut(p.wrapped(len(label)+1, advice.Cut(message)), "\n")
		message = strings.TrimSpace(first) + strings.TrimRight("\n"+further, "\n")
	}
	p.colored(color, label, message)
}

// colored prints a text after a label, which has a color. The text has no control characters except line breaks.
func (p Printer) colored(color, label, text string) {
	if text != "" {
		text = " " + text
	}
	if !p.color || color == "" {
		p.Line("%s%s", label, text)
		return
	}
	_, _ = fmt.Fprintf(visible.Raw(p.W), "\x1b[%sm%s\x1b[0m%s\n", color, label, text)
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
func (p Printer) Note(message string) { p.labeled("", "note:", message) }

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
