package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/visible"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
)

// rejection is an error, for example about an invalid manifest, for which the exit code is 1 unless `code` is set. A
// command may already have printed some of the problems.
type rejection struct {
	// problems are messages. The printer writes each message on a separate line.
	problems []string
	// summary is the last line. Empty means that there is no such line.
	summary string
	// code is the exit code. Zero means 1.
	code int
}

// Error returns the summary.
func (r *rejection) Error() string { return r.summary }

// printer writes messages for people.
type printer struct {
	w     io.Writer
	color bool
}

func newPrinter(streams Streams) printer {
	return printer{w: streams.Err, color: streams.colored()}
}

const (
	red    = "31"
	yellow = "33"
	green  = "32"
)

// labeled prints a message on one line, after a label, which has a color.
func (p printer) labeled(color, label, message string) {
	message = visible.Line(message)
	if !p.color {
		p.line("%s %s", label, message)
		return
	}
	_, _ = fmt.Fprintf(visible.Raw(p.w), "\x1b[%sm%s\x1b[0m %s\n", color, label, message)
}

func (p printer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format+"\n", args...)
}

func (p printer) rejection(r *rejection) {
	for _, problem := range r.problems {
		p.problem(problem)
	}
	if r.summary != "" {
		p.line("%s", r.summary)
	}
}

func (p printer) problem(message string) { p.labeled(red, "error:", message) }

func (p printer) warning(message string) { p.labeled(yellow, "warning:", message) }

func (p printer) note(message string) { p.line("note: %s", visible.Line(message)) }

// remarks prints the warnings and notes for one stack.
func (p printer) remarks(s dryrun.Stack, found dryrun.Outcome) {
	for _, warning := range slices.Concat(found.Warnings, found.Lost) {
		p.warning(s.Title() + ": " + warning)
	}
	for _, note := range found.Notes {
		p.note(s.Title() + ": " + note)
	}
}

func (p printer) ok(message string) { p.labeled(green, "ok:", message) }
