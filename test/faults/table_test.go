package faults_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var (
	all  = flag.Bool("all", false, "interrupt every write instead of one write for each kind of interruption, and run the faults that take a long time")
	into = flag.String("table", "", "file to which the table of faults is written")
)

// row contains the results of a fault.
type row struct {
	order     int
	fault     string
	writes    string
	converged []time.Duration
	pods      string
}

// table contains the results of all faults.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (r *table) add(t *testing.T, added row) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, added)
	t.Log(added.String())
}

// String returns the row in Markdown.
func (r row) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s |", r.fault, r.writes, span(r.converged), r.pods)
}

// span returns the range of the durations as text.
func span(durations []time.Duration) string {
	if len(durations) == 0 {
		return "–"
	}
	least, most := slices.Min(durations).Seconds(), slices.Max(durations).Seconds()
	if len(durations) == 1 {
		return fmt.Sprintf("%.1f s", most)
	}
	return fmt.Sprintf("%.1f to %.1f s", least, most)
}

// write prints the table, and writes it to the configured file.
func (r *table) write(t *testing.T) {
	t.Helper()
	slices.SortStableFunc(r.rows, func(a, b row) int { return cmp.Compare(a.order, b.order) })
	var text strings.Builder
	text.WriteString("| fault | writes | recovered after | pods |\n|---|---|---|---|\n")
	for _, row := range r.rows {
		text.WriteString(row.String() + "\n")
	}
	t.Logf("faults:\n%s", text.String())
	if *into == "" {
		return
	}
	testutil.Must(t, os.WriteFile(*into, []byte(text.String()), 0o600))
}
