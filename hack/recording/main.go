// Command recording runs commands, and writes a picture of the terminal that plays them and their output.
//
//	go run ./hack/recording COMMANDS PICTURE
//
// Each line of the file COMMANDS is a command for bash. Lines of an output that begin with "$ ", such as those of
// `make demo`, count as commands, too. The same output produces the same picture. A reader whose system asks for
// reduced motion sees the last screen.
package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"strings"
)

const (
	columns    = 104
	rows       = 24
	lineHeight = 17
	padding    = 14
	// The times are in seconds: after a command, after each line of output, and after the last step.
	afterCommand, afterLine, afterAll = 0.8, 0.22, 4.0
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: recording COMMANDS PICTURE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(commands, picture string) error {
	lines, err := os.ReadFile(commands)
	if err != nil {
		return err
	}
	text, err := play(string(lines), ".", os.Environ())
	if err != nil {
		return err
	}
	return os.WriteFile(picture, draw(text), 0o644) //nolint:gosec // a picture of the documentation
}

// play runs commands in a folder, and returns them with their output. A command may fail, and the recording shows it.
func play(commands, folder string, environment []string) (string, error) {
	var page bytes.Buffer
	for command := range strings.Lines(commands) {
		fmt.Fprint(&page, "$ ", command)
		shell := exec.Command("bash", "-c", command) //nolint:noctx // the user can stop this program
		shell.Dir, shell.Env = folder, environment
		shell.Stdout, shell.Stderr = &page, &page
		if err := shell.Run(); shell.ProcessState == nil {
			return "", err
		}
	}
	return page.String(), nil
}

// step is a command or its output. It appears at once, at the row first. pause is the time until the next step.
type step struct {
	command bool
	rows    []string
	first   int
	pause   float64
}

// steps splits the text of a terminal into commands and their outputs.
func steps(text string) []step {
	var found []step
	row := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		command := strings.HasPrefix(line, "$ ")
		if len(found) == 0 || command || found[len(found)-1].command {
			found = append(found, step{command: command, first: row})
		}
		last := &found[len(found)-1]
		wrapped := wrap(line)
		last.rows = append(last.rows, wrapped...)
		row += len(wrapped)
		last.pause += afterLine
		if command {
			last.pause = afterCommand
		}
	}
	return found
}

// draw returns an SVG file that plays the text of a terminal.
func draw(text string) []byte {
	played := steps(text)
	var total float64
	for _, each := range played {
		total += each.pause
	}
	total += afterAll
	width, height := columns*8+2*padding, rows*lineHeight+2*padding
	var page, style, scroll bytes.Buffer
	fmt.Fprintf(&page, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n", width, height)
	at, offset := 0.0, 0
	for i, each := range played {
		fmt.Fprintf(&style, "@keyframes s%d { 0%% { opacity: 0 } %.2f%%, 100%% { opacity: 1 } }\n", i, 100*at/total)
		fmt.Fprintf(&style, "#s%d { animation: s%[1]d %.1fs step-end infinite }\n", i, total)
		offset = lineHeight * max(0, each.first+len(each.rows)-rows)
		fmt.Fprintf(&scroll, " %.2f%% { transform: translateY(-%dpx) }", 100*at/total, offset)
		at += each.pause
	}
	fmt.Fprintf(&style, "@keyframes scroll {%s 100%% { transform: translateY(-%dpx) } }\n", scroll.String(), offset)
	fmt.Fprintf(&style, "#scroll { transform: translateY(-%dpx); animation: scroll %.1fs step-end infinite }\n", offset, total)
	fmt.Fprintf(&page, "<style>\ntext { font: 13px monospace; fill: #d7e3e2; white-space: pre }\n.c { fill: #7ee0d2; font-weight: bold }\n"+
		"%s@media (prefers-reduced-motion: reduce) { g { animation: none !important } }\n</style>\n", style.String())
	fmt.Fprintf(&page, `<rect width="%d" height="%d" rx="8" fill="#10201f"/>`+"\n", width, height)
	fmt.Fprintf(&page, `<svg x="%d" y="%d" width="%d" height="%d"><g id="scroll">`+"\n", padding, padding, columns*8, rows*lineHeight)
	for i, each := range played {
		fmt.Fprintf(&page, `<g id="s%d">`+"\n", i)
		class := ""
		if each.command {
			class = ` class="c"`
		}
		for j, row := range each.rows {
			fmt.Fprintf(&page, `<text y="%d"%s xml:space="preserve">%s</text>`+"\n", (each.first+j+1)*lineHeight-4, class,
				html.EscapeString(row))
		}
		page.WriteString("</g>\n")
	}
	page.WriteString("</g></svg>\n</svg>\n")
	return page.Bytes()
}

// wrap splits a line at the width of the terminal.
func wrap(line string) []string {
	var found []string
	left := []rune(line)
	for len(left) > columns {
		found, left = append(found, string(left[:columns])), left[columns:]
	}
	return append(found, string(left))
}
