package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	opening   = regexp.MustCompile("^([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$")
	title     = regexp.MustCompile(`(?:^|[ \t])title="([^"]*)"`)
	language  = regexp.MustCompile(`^[A-Za-z0-9_+-]*`)
	directive = regexp.MustCompile(`^[ \t]*<!-- docs-test:[ \t]*(.*)$`)
	exitCode  = regexp.MustCompile(`[ \t]+# exit code (\d{1,3})[ \t]*$`)
	heredoc   = regexp.MustCompile(`<<(-?)[ \t]*(['"]?)([A-Za-z_][A-Za-z0-9_]*)(['"]?)`)
	sentence  = regexp.MustCompile(`^[A-Z\x60].*\.$`)
	standIn   = regexp.MustCompile(`^([a-z0-9][a-z0-9-]*)(?::(\d+))?(?:=(\S+))?$`)
)

// ports contains the default ports of model servers.
var ports = map[string]string{"vllm": "8000", "ollama": "11434", "tgi": "8080"}

// Parse reads a page.
func Parse(text string) *Page {
	p := &parser{lines: strings.Split(text, "\n"), page: &Page{}}
	for p.at < len(p.lines) {
		p.next()
	}
	p.dangling()
	return p.page
}

type parser struct {
	lines []string
	at    int
	page  *Page
	// pending contains the settings from a comment for the next block.
	pending *Block
}

func (p *parser) problem(line int, format string, arguments ...any) {
	p.page.Problems = append(p.page.Problems, Problem{line, fmt.Sprintf(format, arguments...)})
}

// dangling reports a comment that has no block.
func (p *parser) dangling() {
	if p.pending != nil {
		p.problem(p.pending.Line, "the comment is not on the line before a block; move the comment there")
		p.pending = nil
	}
}

// next reads a block, a comment, or a line of prose.
func (p *parser) next() {
	line := p.lines[p.at]
	switch match := directive.FindStringSubmatch(line); {
	case match != nil:
		p.dangling()
		p.comment(match[1])
	case strings.HasPrefix(strings.TrimSpace(line), "<!--"):
		p.dangling()
		p.until("-->")
	case opening.MatchString(line):
		p.block(opening.FindStringSubmatch(line))
	default:
		if strings.TrimSpace(line) != "" {
			p.dangling()
		}
		p.at++
	}
}

// until returns the lines up to and including the first line that contains the text in the parameter `end`. The parser
// continues after this line.
func (p *parser) until(end string) []string {
	start := p.at
	for ; p.at < len(p.lines); p.at++ {
		if strings.Contains(p.lines[p.at], end) {
			p.at++
			return p.lines[start:p.at]
		}
	}
	p.problem(start+1, "the comment has no end; add %q", end)
	return p.lines[start:]
}

// comment reads a comment with settings for the page or the next block.
func (p *parser) comment(text string) {
	line := p.at + 1
	lines := p.until("-->")
	if len(lines) > 1 {
		p.setup(line, strings.TrimSpace(text), lines[1:])
		return
	}
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "-->"))
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "node":
		p.pending = &Block{Line: line, Where: Node}
	case text == "Ctrl-C", text == "node Ctrl-C":
		p.pending = &Block{Line: line, Interrupted: true}
		if word == "node" {
			p.pending.Where = Node
		}
	case text == "invalid":
		p.pending = &Block{Line: line, Invalid: true}
	case text == "repository":
		p.page.Repository = true
	case text == "real-server":
		p.page.RealServer = true
	case text == "alone":
		p.page.Alone = true
	case word == "stand-ins":
		p.standIns(line, rest)
	case word == "servers":
		p.page.Servers = append(p.page.Servers, strings.Fields(rest)...)
	case word == "skip:":
		if reason := strings.TrimSpace(rest); !sentence.MatchString(reason) {
			p.problem(line, "the reason %q is not a complete sentence; write a sentence that begins with a capital letter and ends with a period", reason)
		}
		p.pending = &Block{Line: line, Where: Nowhere, Reason: strings.TrimSpace(rest)}
	default:
		p.problem(line, "the comment %q is unknown; use node, Ctrl-C, node Ctrl-C, skip: REASON, invalid, setup, repository, real-server, "+
			"alone, servers NAME… or stand-ins NAME…", text)
	}
}

// setup reads a hidden block of commands. The commands run together as one script.
func (p *parser) setup(line int, text string, lines []string) {
	block := Block{Line: line, Language: Console, Hidden: true}
	switch text {
	case "setup":
	case "setup node":
		block.Where = Node
	default:
		p.problem(line, "%q is not the start of a hidden block; use setup or setup node", text)
	}
	last := len(lines) - 1
	var script []string
	for _, each := range append(slices.Clone(lines[:last]), strings.Replace(lines[last], "-->", "", 1)) {
		script = append(script, strings.TrimPrefix(each, "$ "))
	}
	if joined := strings.TrimSpace(strings.Join(script, "\n")); joined != "" {
		block.Commands = []Command{{Line: line + 1, Text: joined}}
	}
	p.page.Blocks = append(p.page.Blocks, block)
}

func (p *parser) standIns(line int, text string) {
	for each := range strings.FieldsSeq(text) {
		match := standIn.FindStringSubmatch(each)
		if match == nil {
			p.problem(line, "%q is not a stand-in; use NAME, NAME:PORT or NAME:PORT=MODEL,MODEL", each)
			continue
		}
		server := StandIn{Name: match[1], Port: match[2]}
		if server.Port == "" {
			server.Port = ports[server.Name]
		}
		if server.Port == "" {
			p.problem(line, "the stand-in %q has no default port; use NAME:PORT", each)
		}
		if match[3] != "" {
			server.Models = strings.Split(match[3], ",")
		}
		p.page.StandIns = append(p.page.StandIns, server)
	}
}

// block reads a fenced block.
func (p *parser) block(match []string) {
	indent, fence, info := match[1], match[2], strings.TrimSpace(match[3])
	block := Block{Line: p.at + 1, Language: language.FindString(info)}
	if p.pending != nil {
		block.Where, block.Reason, block.Invalid = p.pending.Where, p.pending.Reason, p.pending.Invalid
		block.Interrupted = p.pending.Interrupted
		p.pending = nil
	}
	if found := title.FindStringSubmatch(info); found != nil {
		block.Title = found[1]
	}
	p.at++
	start := p.at
	for p.at < len(p.lines) && !closes(p.lines[p.at], fence) {
		p.at++
	}
	if p.at == len(p.lines) {
		p.problem(block.Line, "the block has no end; add the closing fence")
		return
	}
	lines := make([]string, 0, p.at-start)
	for _, line := range p.lines[start:p.at] {
		lines = append(lines, strings.TrimPrefix(line, indent))
	}
	p.at++
	if len(lines) > 0 {
		block.Text = strings.Join(lines, "\n") + "\n"
	}
	if bad := strings.HasPrefix(block.Title, "/") || slices.Contains(strings.Split(block.Title, "/"), ".."); bad {
		p.problem(block.Line, "the title %q is not a path below the page's folder; write a relative path without \"..\"",
			block.Title)
		block.Title = ""
	}
	if block.Language == Console {
		p.commands(&block, lines, start, indent)
	}
	p.page.Blocks = append(p.page.Blocks, block)
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// openQuote reports whether a command ends within a quoted string.
func openQuote(text string) bool {
	var quote rune
	escaped := false
	for _, char := range text {
		switch {
		case escaped:
			escaped = false
		case char == '\\' && quote != '\'':
			escaped = true
		case quote == 0 && (char == '\'' || char == '"'):
			quote = char
		case char == quote:
			quote = 0
		}
	}
	return quote != 0
}

// commands reads the commands of a console block, and the output below each command.
func (p *parser) commands(block *Block, lines []string, offset int, indent string) {
	for i := 0; i < len(lines); {
		line := lines[i]
		if !strings.HasPrefix(line, "$ ") {
			p.problem(offset+i+1, "the line %q is neither a command, which begins with \"$ \", nor the output of a command; add the command above the line", line)
			i++
			continue
		}
		command := Command{Line: offset + i + 1, indent: indent}
		text := strings.TrimPrefix(line, "$ ")
		for i++; (strings.HasSuffix(text, `\`) || openQuote(text)) && i < len(lines); i++ {
			text += "\n" + lines[i]
		}
		if match := exitCode.FindStringSubmatch(text); match != nil {
			command.Exit, _ = strconv.Atoi(match[1])
			text = strings.TrimSuffix(text, match[0])
		}
		if match := heredoc.FindStringSubmatch(text); match != nil && match[2] == match[4] && !strings.Contains(text, "<<<") {
			start := i
			isEnd := func(line string) bool { return strings.TrimSpace(line) == match[3] }
			if end := slices.IndexFunc(lines[i:], isEnd); end >= 0 {
				i += end + 1
			} else {
				i = len(lines)
				p.problem(command.Line, "the here-document has no end; add %q", match[3])
			}
			text = strings.Join(append([]string{text}, lines[start:i]...), "\n")
		}
		command.Text, command.first = text, offset+i
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			command.Output = append(command.Output, lines[i])
			i++
		}
		for n := len(command.Output); n > 0 && strings.TrimSpace(command.Output[n-1]) == ""; n-- {
			command.Output = command.Output[:n-1]
		}
		command.last = command.first + len(command.Output)
		block.Commands = append(block.Commands, command)
	}
	if len(lines) == 0 {
		p.problem(block.Line, "the block has no command; add a line that begins with \"$ \"")
	}
}
