package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// bootPackage is the end of the import path of the package whose tests start the server. Each subtest of a release is a
// case.
const bootPackage = "/test/server/boot"

// boot is the column of the tests that start the server.
const boot = "boot"

// count contains the number of cases that passed and the total number of cases.
type count struct{ passed, all int }

// results contains the counts, keyed by line and tier.
type results map[string]map[string]count

// event contains the relevant fields of a line of `go test -json` output.
type event struct {
	Action, Package, Test, Key, Value string
}

func readEvents(r io.Reader) (results, error) {
	found := results{}
	booted := map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue // a line of the compiler's output
		}
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		switch {
		case e.Action == "attr" && slices.Contains(realserver.Columns, e.Key):
			if err := found.addCounted(e); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		case strings.HasSuffix(e.Package, bootPackage) && (e.Action == "pass" || e.Action == "fail"):
			booted[e.Test] = e.Action == "pass"
		}
	}
	found.addBooted(booted)
	return found, lines.Err()
}

func (r results) addCounted(e event) error {
	line := lineOf(e.Test)
	if line == "" {
		return fmt.Errorf("test %q counts cases, but its release is unknown", e.Test)
	}
	var c count
	if _, err := fmt.Sscanf(e.Value, "%d of %d", &c.passed, &c.all); err != nil {
		return fmt.Errorf("%q is not a count of cases: %w", e.Value, err)
	}
	r.add(line, e.Key, c)
	return nil
}

// addBooted adds the counts of the tests that start the server. It counts only tests without subtests.
func (r results) addBooted(passed map[string]bool) {
	names := slices.Sorted(maps.Keys(passed))
	for _, name := range names {
		line := lineOf(name)
		if line == "" || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name+"/") }) {
			continue
		}
		c := count{all: 1}
		if passed[name] {
			c.passed = 1
		}
		r.add(line, boot, c)
	}
}

func (r results) add(line, tier string, c count) {
	if r[line] == nil {
		r[line] = map[string]count{}
	}
	sum := r[line][tier]
	r[line][tier] = count{sum.passed + c.passed, sum.all + c.all}
}

// lineOf returns the release line of a test, for example `0.7` for `TestStacksBoot/0.7.3/simple.yaml`. The result is
// empty if the test is not about a release.
func lineOf(test string) string {
	parts := strings.Split(test, "/")
	if len(parts) < 2 {
		return ""
	}
	match, err := release.Lookup(parts[1])
	if err != nil {
		return ""
	}
	return match.Release.Line
}

// passed returns the lines that passed all tiers, in ascending order.
func (r results) passed() []string {
	var lines []string
	for line, counts := range r {
		if !slices.ContainsFunc(realserver.Columns, func(tier string) bool {
			c := counts[tier]
			return c.all == 0 || c.passed < c.all
		}) {
			lines = append(lines, line)
		}
	}
	slices.SortFunc(lines, release.Compare)
	return lines
}

func (r results) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "release\t%s\n", strings.Join(realserver.Columns, "\t"))
	for _, line := range slices.SortedFunc(maps.Keys(r), release.Compare) {
		fmt.Fprint(table, line)
		for _, tier := range realserver.Columns {
			cell := "-"
			if c := r[line][tier]; c.all > 0 {
				cell = fmt.Sprintf("%d/%d", c.passed, c.all)
			}
			fmt.Fprintf(table, "\t%s", cell)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
