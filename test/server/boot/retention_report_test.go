//go:build server

package boot

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// These are the outcomes of a case.
const (
	passed = "ok"
	failed = "FAILED"
	absent = "-"
)

// retentionReport is a table of the outcomes by release, store and case.
type retentionReport struct {
	mu    sync.Mutex
	cases []string
	rows  map[string]map[string]string
	times map[string][]int
}

// newRetentionReport returns a table, and writes it when the test and its subtests have ended.
func newRetentionReport(t *testing.T) *retentionReport {
	t.Helper()
	r := &retentionReport{rows: map[string]map[string]string{}, times: map[string][]int{}}
	t.Cleanup(func() { writeTable(t, r.String()) })
	return r
}

func (r *retentionReport) add(release, store, name, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.cases, name) {
		r.cases = append(r.cases, name)
	}
	row := release + "\t" + store
	if r.rows[row] == nil {
		r.rows[row] = map[string]string{}
	}
	r.rows[row][name] = outcome
}

func (r *retentionReport) addTimes(release, store string, times []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[release+"\t"+store] = times
}

// String returns the table with a row for each release and store. The last column contains the median and the maximum
// duration of the script that runs before the server.
func (r *retentionReport) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprintf(table, "release\tstore\t%s\tscript, ms\n", strings.Join(r.cases, "\t"))
	rows := make([]string, 0, len(r.rows))
	for row := range r.rows {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	for _, row := range rows {
		cells := []string{row}
		for _, name := range r.cases {
			outcome := r.rows[row][name]
			if outcome == "" {
				outcome = absent
			}
			cells = append(cells, outcome)
		}
		fmt.Fprintf(table, "%s\t%s\n", strings.Join(cells, "\t"), summary(r.times[row]))
	}
	if err := table.Flush(); err != nil {
		return err.Error()
	}
	return text.String()
}

// tableOfLines is a table to which tests add lines.
type tableOfLines struct {
	mu    sync.Mutex
	lines []string
}

func (r *tableOfLines) add(cells ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	words := make([]string, 0, len(cells))
	for _, cell := range cells {
		words = append(words, fmt.Sprint(cell))
	}
	r.lines = append(r.lines, strings.Join(words, "\t")+"\n")
}

// String returns the table: the first line, and then the other lines, sorted.
func (r *tableOfLines) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprint(table, r.lines[0])
	for _, line := range slices.Sorted(slices.Values(r.lines[1:])) {
		fmt.Fprint(table, line)
	}
	if err := table.Flush(); err != nil {
		return err.Error()
	}
	return text.String()
}

// summary returns the median and the maximum of the durations.
func summary(times []int) string {
	if len(times) == 0 {
		return absent
	}
	sorted := slices.Sorted(slices.Values(times))
	return fmt.Sprintf("%d, at most %d", sorted[len(sorted)/2], sorted[len(sorted)-1])
}

// tableFile is the environment variable with the path of the file to which the tests append the tables.
// `make test-retention` sets it.
const tableFile = "RETENTION_TABLE"

var tableMutex sync.Mutex

// writeTable logs a table, and appends it to the file in the variable tableFile, if the variable is set.
func writeTable(t *testing.T, table string) {
	t.Helper()
	t.Logf("%s\n%s", t.Name(), table)
	path := os.Getenv(tableFile)
	if path == "" {
		return
	}
	tableMutex.Lock()
	defer tableMutex.Unlock()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Errorf("write table: %v", err)
		return
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "%s\n\n%s\n", t.Name(), table); err != nil {
		t.Errorf("write table: %v", err)
	}
}
