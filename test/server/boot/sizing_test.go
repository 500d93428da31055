//go:build server && sizing

package boot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

const (
	// sizingRounds is the number of starts of each server. Other programs make a start longer, so the shortest one counts.
	sizingRounds = 3
	// ticksPerSecond is the unit of times in /proc, which is the same on all Linux architectures that Go supports.
	ticksPerSecond = 100
)

// declaredModel is the model that the objects declare.
const declaredModel = "llama3.2-8b"

// sizingCases are the objects whose servers TestSizing measures. All of them declare the same model of vLLM.
var sizingCases = []sizingCase{
	{"`starter`", "v1alpha2-simple.yaml", "vllm"},
	{"`starter` with `baseProviders: Required`", "testdata/own-providers.yaml", "vllm"},
	{"`postgres-demo`", "testdata/postgres-demo.yaml", "vllm-inference"},
}

type sizingCase struct{ title, file, provider string }

// usage is the sum for all processes of a server.
type usage struct {
	resident, peak int // KiB
	cpu            time.Duration
}

// sizing is the result for one object and one release.
type sizing struct {
	start, cpu                  time.Duration // until the server is healthy
	ready, afterRequest, peaked int           // KiB
}

// TestSizing measures the memory and the start of the servers, and writes a Markdown table to the file in SIZING_TABLE
// after each release.
func TestSizing(t *testing.T) {
	releases, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	results := map[string][]sizing{}
	for round := range sizingRounds {
		for _, rel := range releases {
			for _, tc := range sizingCases {
				t.Run(fmt.Sprintf("%s/%s/%d", rel.Version, filepath.Base(tc.file), round), func(t *testing.T) {
					results[rel.Version+tc.file] = append(results[rel.Version+tc.file], tc.measure(t, rel))
				})
			}
			table := sizingTable(releases, results)
			if err := os.WriteFile(os.Getenv("SIZING_TABLE"), []byte(table), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sizingTable returns the table with a row for each release and two columns for each object.
func sizingTable(releases []*release.Release, results map[string][]sizing) string {
	table, line := "| Release |", "|---|"
	for _, tc := range sizingCases {
		table += " " + tc.title + ": MiB when ready, after a request, at most | s until ready (CPU) |"
		line += "---|---|"
	}
	table += "\n" + line + "\n"
	for _, rel := range releases {
		table += "| " + rel.Version + " |"
		for _, tc := range sizingCases {
			table += cells(results[rel.Version+tc.file])
		}
		table += "\n"
	}
	return table
}

// measure starts the server of the object, sends a chat to it, and stops it.
func (tc *sizingCase) measure(t *testing.T, rel *release.Release) sizing {
	t.Helper()
	s := readSample(t, tc.file)
	on := s.startPlace(t, rel)
	on.models.serve(declaredModel)
	s.fit(t, rel, on)
	server := bootSample(t, rel, s, t.TempDir())
	atReady := server.process.usage(t)
	m := model{provider: tc.provider, name: declaredModel, upstream: declaredModel}
	if _, err := server.chat(t.Context(), m.public(rel)); err != nil {
		t.Fatal(err)
	}
	after := server.process.usage(t)
	return sizing{
		start: server.boot, cpu: atReady.cpu, ready: atReady.resident, afterRequest: after.resident, peaked: after.peak,
	}
}

// cells returns the two cells of a row: the largest memory, and the shortest start with the smallest CPU time.
func cells(results []sizing) string {
	if len(results) == 0 {
		return " – | – |"
	}
	worst := results[0]
	for _, r := range results[1:] {
		worst.start, worst.cpu = min(worst.start, r.start), min(worst.cpu, r.cpu)
		worst.ready, worst.afterRequest = max(worst.ready, r.ready), max(worst.afterRequest, r.afterRequest)
		worst.peaked = max(worst.peaked, r.peaked)
	}
	return fmt.Sprintf(" %d / %d / %d | %.1f (%.1f) |", worst.ready>>10, worst.afterRequest>>10, worst.peaked>>10,
		worst.start.Seconds(), worst.cpu.Seconds())
}

// usage returns what the processes in the group use, except for the guard of the watchdog.
func (p *process) usage(t *testing.T) usage {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var sum usage
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		// The name of the program is in parentheses, and can contain spaces.
		_, named, _ := strings.Cut(string(stat), "(")
		end := strings.LastIndex(named, ")")
		fields := strings.Fields(named[end+1:])
		if fields[2] != strconv.Itoa(p.cmd.Process.Pid) || slices.Contains([]string{"sh", "cat"}, named[:end]) {
			continue
		}
		for _, ticks := range fields[11:13] {
			sum.cpu += time.Duration(toInt(t, ticks)) * time.Second / ticksPerSecond
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			switch key, value, _ := strings.Cut(line, ":"); key {
			case "VmRSS":
				sum.resident += toInt(t, strings.Fields(value)[0])
			case "VmHWM":
				sum.peak += toInt(t, strings.Fields(value)[0])
			}
		}
	}
	if sum.resident == 0 {
		t.Fatal("found no process of the server")
	}
	return sum
}

func toInt(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
