package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func main() {
	minimum := flag.Float64("min", 0, "minimum percentage of statements that the tests of all packages combined must cover")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: coverage [-min PERCENT] PROFILE")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *minimum); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, profile string, minimum float64) error {
	file, err := os.Open(profile)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	blocks, err := readProfile(file)
	if err != nil {
		return fmt.Errorf("read %q: %w", profile, err)
	}
	return report(out, countByPackage(blocks), minimum)
}

// block is a range of statements. The profile identifies it by its file and its positions.
type block struct {
	statements int
	covered    bool
}

// readProfile reads lines of the form `file.go:1.2,3.4 statements count` after the mode line.
func readProfile(r io.Reader) (map[string]block, error) {
	blocks := map[string]block{}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "mode: ") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d: %q is not a block", number, line)
		}
		statements, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: number of statements: %w", number, err)
		}
		blocks[fields[0]] = block{
			statements: statements,
			covered:    blocks[fields[0]].covered || fields[2] != "0",
		}
	}
	return blocks, lines.Err()
}

type count struct{ covered, total int }

func (c count) percent() float64 {
	if c.total == 0 {
		return 100
	}
	return 100 * float64(c.covered) / float64(c.total)
}

// countByPackage returns the counts by package. It excludes generated files, which need no tests.
func countByPackage(blocks map[string]block) map[string]count {
	counts := map[string]count{}
	for position, b := range blocks {
		file, _, _ := strings.Cut(position, ":")
		if strings.HasPrefix(path.Base(file), "zz_generated") {
			continue
		}
		c := counts[path.Dir(file)]
		c.total += b.statements
		if b.covered {
			c.covered += b.statements
		}
		counts[path.Dir(file)] = c
	}
	return counts
}

func report(out io.Writer, counts map[string]count, minimum float64) error {
	var sum count
	for _, pkg := range slices.Sorted(maps.Keys(counts)) {
		c := counts[pkg]
		sum.covered += c.covered
		sum.total += c.total
		if _, err := fmt.Fprintf(out, "coverage  %5.1f%%  %s\n", c.percent(), pkg); err != nil {
			return err
		}
	}
	if sum.percent() < minimum {
		return fmt.Errorf("the tests cover %.1f%% of the statements, but the minimum is %.0f%%; add tests", sum.percent(), minimum)
	}
	_, err := fmt.Fprintf(out, "coverage  %5.1f%%  total (%d statements, minimum %.0f%%)\n", sum.percent(), sum.total, minimum)
	return err
}
