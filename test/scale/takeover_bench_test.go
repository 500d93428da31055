package scale_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// lists is the number of times that each list is read.
const lists = 5

// BenchmarkTakeOver measures the cost of taking over many stacks of the previous operator. Run it with -benchtime=1x,
// as `make bench-takeover` does.
func BenchmarkTakeOver(b *testing.B) {
	for b.Loop() {
		c := leaveStacks(b, *objects)
		var text strings.Builder
		fmt.Fprintf(&text, "\n%d stacks of the previous operator\n\n| measure | figure | limit |\n|---|---|---|\n", *objects)
		c.timeLists(b, &text, "with the previous operator", versions[:1])
		place, started := c.audited(b), time.Now()
		c.upgrade(b)
		c.timeLists(b, &text, "at the start of the take-over", versions)
		c.handsOver(b, patience)
		fmt.Fprintf(&text, "| time until all stacks are taken over and stored in v1alpha2 | %.0f s | |\n", time.Since(started).Seconds())
		c.rests(b)
		c.timeLists(b, &text, "after the take-over", versions)
		made, needed := c.writes(b, place), c.needed()
		for _, what := range slices.Sorted(maps.Keys(made)) {
			fmt.Fprintf(&text, "| %s | %d | %d |\n", what, made[what], needed[what])
		}
		fmt.Fprintln(os.Stdout, text.String())
	}
}

// timeLists reads all stacks in each of the given versions, in one call and in pages, and writes the median and the
// longest time.
func (c *older) timeLists(b *testing.B, text *strings.Builder, when string, versions []string) {
	b.Helper()
	for _, version := range versions {
		for _, page := range []int{0, pageSize} {
			var seconds []float64
			for range lists {
				took, found, err := c.list(b.Context(), version, page)
				if err != nil || found != c.stacks {
					b.Fatalf("%d of %d stacks of %s: %v", found, c.stacks, version, err)
				}
				seconds = append(seconds, took.Seconds())
			}
			how := map[int]string{0: "at once", pageSize: "in kubectl's pages"}[page]
			fmt.Fprintf(text, "| a full list in %s %s, %s: median, slowest | %.2f s, %.2f s | 1 s |\n",
				version, when, how, median(seconds), slices.Max(seconds))
		}
	}
}
