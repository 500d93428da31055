// Command conditions writes the reference for conditions and events from the constants of the API and their comments.
// It links each reason to its entry in docs/troubleshooting, and fails if a reason has no entry.
package main

import (
	"cmp"
	_ "embed" // The introductions of the pages are embedded.
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/entries"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: conditions CONSTANTS DOCS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "conditions:", err)
		os.Exit(1)
	}
}

func run(source, docs string) error {
	blocks, err := read(source)
	if err != nil {
		return err
	}
	found, err := entries.Read(filepath.Join(docs, "troubleshooting"))
	if err != nil {
		return fmt.Errorf("read entries: %w", err)
	}
	for name, write := range map[string]func([]block, map[string]entries.Entry) (string, error){
		"conditions.md": conditions, "events.md": events,
	} {
		text, err := write(blocks, found)
		if err != nil {
			return err
		}
		//nolint:gosec // a public file of the repository
		if err := os.WriteFile(filepath.Join(docs, "reference", name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write reference: %w", err)
		}
	}
	return nil
}

// block is a block of constants with its comment.
type block struct {
	title     string
	constants []constant
}

// constant is a condition type or a reason.
type constant struct {
	value string
	// meaning is the comment without the constant's name and the detail. detail is the text after "Status:" or "Event:".
	meaning, detail string
}

// unseen is the last sentence of the comment on a constant that no user sees.
const unseen = "This reason never appears in the status."

var (
	meansThat = regexp.MustCompile(`^\w+ means (?:that )?`)
	detailed  = regexp.MustCompile(` (?:Status|Event): ([^.]+)\.$`)
)

// read returns the blocks in a file, without the constants that no user sees.
func read(source string) ([]block, error) {
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read constants: %w", err)
	}
	var blocks []block
	for _, declared := range file.Decls {
		group, ok := declared.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		read := block{title: strings.TrimSuffix(strings.TrimSpace(group.Doc.Text()), ".")}
		for _, spec := range group.Specs {
			one, err := constantOf(spec)
			if err != nil {
				return nil, err
			}
			if !strings.HasSuffix(one.meaning, unseen) {
				read.constants = append(read.constants, one)
			}
		}
		blocks = append(blocks, read)
	}
	return blocks, nil
}

func constantOf(spec ast.Spec) (constant, error) {
	values, ok := spec.(*ast.ValueSpec)
	if !ok || len(values.Names) != 1 || len(values.Values) != 1 {
		return constant{}, errors.New("a constant does not have the form NAME = \"value\"")
	}
	literal, ok := values.Values[0].(*ast.BasicLit)
	if !ok {
		return constant{}, fmt.Errorf("%s is not a string", values.Names[0].Name)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return constant{}, fmt.Errorf("%s: %w", values.Names[0].Name, err)
	}
	text := strings.Join(strings.Fields(values.Doc.Text()), " ")
	name := values.Names[0].Name
	if !strings.HasPrefix(text, name+" ") {
		return constant{}, fmt.Errorf("%s has no comment that begins with this name; add one", name)
	}
	one := constant{value: value}
	if match := detailed.FindStringSubmatch(text); match != nil {
		one.detail, text = match[1], strings.TrimSuffix(text, match[0])+"."
		text = strings.Replace(text, "..", ".", 1)
	}
	if strings.HasPrefix(name, "Condition") {
		one.meaning = "`" + value + "`" + strings.TrimPrefix(text, name)
		return one, nil
	}
	one.meaning = upperFirst(meansThat.ReplaceAllString(text, ""))
	if one.detail == "" && !strings.HasSuffix(text, unseen) {
		return constant{}, fmt.Errorf("the comment on %s ends with neither a status nor an event type; add \"Status: STATUS.\" or \"Event: TYPE.\"", name)
	}
	return one, nil
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

const reasonsOf = "Reasons of "

// These are the texts before the first section of each page.
var (
	//go:embed conditions.txt
	conditionsIntro string
	//go:embed events.txt
	eventsIntro string
)

// conditions returns the page with the condition types in the order of their constants, each with its reasons, and with
// the reasons that several conditions share.
func conditions(blocks []block, found map[string]entries.Entry) (string, error) {
	var page strings.Builder
	page.WriteString(conditionsIntro)
	reasons := map[string]block{}
	for _, one := range blocks[1:] {
		reasons[strings.TrimPrefix(one.title, reasonsOf)] = one
	}
	for _, condition := range blocks[0].constants {
		fmt.Fprintf(&page, "\n## `%s`\n\n%s\n", condition.value, upperFirst(condition.meaning))
		if err := table(&page, "status", reasons[condition.value].constants, found); err != nil {
			return "", err
		}
	}
	page.WriteString("\n## Reasons that several conditions share\n")
	if err := table(&page, "status", reasons["several conditions"].constants, found); err != nil {
		return "", err
	}
	return page.String(), nil
}

// events returns the page with the events.
func events(blocks []block, found map[string]entries.Entry) (string, error) {
	var page strings.Builder
	page.WriteString(eventsIntro)
	for _, one := range blocks {
		on, isEvents := strings.CutPrefix(one.title, "Event reasons ")
		if !isEvents {
			continue
		}
		fmt.Fprintf(&page, "\n## Events %s\n", on)
		sorted := slices.SortedFunc(slices.Values(one.constants),
			func(a, b constant) int { return cmp.Compare(a.value, b.value) })
		if err := table(&page, "type", sorted, found); err != nil {
			return "", err
		}
	}
	return page.String(), nil
}

// table writes a row for each reason, with a link to its entry.
func table(page *strings.Builder, detail string, reasons []constant, found map[string]entries.Entry) error {
	if len(reasons) == 0 {
		return nil
	}
	fmt.Fprintf(page, "\n| reason | %s | meaning |\n|---|---|---|\n", detail)
	for _, reason := range reasons {
		entry, ok := found[reason.value]
		if !ok {
			return fmt.Errorf("no page below docs/troubleshooting has an entry for %q: add a heading \"`%s`: …\", or "+
				"a table row that begins with <a id=%q></a>`%s`",
				reason.value, reason.value, strings.ToLower(reason.value), reason.value)
		}
		fmt.Fprintf(page, "| [`%s`](../troubleshooting/%s) | %s | %s |\n", reason.value, entry, reason.detail, reason.meaning)
	}
	return nil
}
