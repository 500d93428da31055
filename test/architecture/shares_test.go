package architecture

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const sharesPage = "docs/development/shares.md"

var codeOfRow = regexp.MustCompile("`([^`]+)`")

// TestShares checks that the page lists everything that the namespaces use together, with the numbers in the code, and
// nothing else. If you add workers, slots, a rate limit, a memory of limited size or an event handler, add a row: the
// share of a namespace, or the reason why none is needed.
func TestShares(t *testing.T) {
	shared, err := ReadShared(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(shared) < 20 {
		t.Fatalf("found only %d places in the code", len(shared))
	}
	listed := map[string][][]string{} // the total and the share of a namespace in each row, by code
	for line := range strings.SplitSeq(read(t, sharesPage), "\n") {
		columns := strings.Split(line, " | ")
		if len(columns) != 5 || !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, code := range codeOfRow.FindAllStringSubmatch(columns[1], -1) {
			listed[code[1]] = append(listed[code[1]], columns[2:4])
		}
		if reason := strings.Trim(columns[4], " |"); len(reason) < 10 && columns[1] != "code" {
			t.Errorf("%s: the row for %s gives no reason", sharesPage, columns[1])
		}
	}
	for _, one := range shared {
		rows := listed[one.Code]
		numbers := func(row []string) bool { return slices.Equal(row, []string{one.Total, one.Each}) }
		switch {
		case len(rows) == 0:
			t.Errorf("%s has no row for %s", sharesPage, one.Code)
		case one.Total != "" && !slices.ContainsFunc(rows, numbers):
			t.Errorf("%s: %s has %v, want %s in total and %s for a namespace", sharesPage, one.Code, rows, one.Total, one.Each)
		}
	}
	for code := range listed {
		if !slices.ContainsFunc(shared, func(one Shared) bool { return one.Code == code }) {
			t.Errorf("%s has a row for %s, which creates nothing that the namespaces share", sharesPage, code)
		}
	}
}

// TestReadShared checks that every kind of shared thing is found.
func TestReadShared(t *testing.T) {
	root := fstest.MapFS{
		"internal/a/a.go": {Data: []byte(`package a
const readers = 16
type slots chan struct{}
var pool = sync.Pool{}
var memory = &sync.Pool{}
func newSlots() slots { return make(slots, 1) }
func newTokens() any { return make(chan struct{}, readers) }
func wait() chan struct{} { return make(chan struct{}) }
func list() []int { return make([]int, 1) }
func limit() any { return rate.NewLimiter(1, 1) }
func queue() any { return workqueue.NewTypedDelayingQueue[int]() }
func plain() any { return workqueue.NewTyped[int]() }
func retries() any { return workqueue.NewTypedItemExponentialFailureRateLimiter[int](1, 2) }
func (w *workers) start() any { return share.NewQueue(readers, 4, f) }
func group() { g.SetLimit(3) }
func byName() any { return handler.EnqueueRequestsFromMapFunc(f) }
func byHost() any { return handler.Funcs{} }
func options() any { return controller.Options{MaxConcurrentReconciles: 4} }
func kept() any { return lru.New(3) }
`)},
		"internal/a/a_test.go":         {Data: []byte("package a\nfunc inTest() any { return rate.NewLimiter(1, 1) }\n")},
		"internal/cli/a.go":            {Data: []byte("package cli\nfunc f() any { return rate.NewLimiter(1, 1) }\n")},
		"internal/testutil/testing.go": {Data: []byte("package testutil\nfunc f() any { return rate.NewLimiter(1, 1) }\n")},
	}
	got, err := ReadShared(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []Shared{
		{Code: "a.pool"},
		{Code: "a.memory"},
		{Code: "a.newSlots"},
		{Code: "a.newTokens"},
		{Code: "a.limit"},
		{Code: "a.queue"},
		{Code: "a.plain"},
		{Code: "a.workers.start", Total: "16", Each: "4"},
		{Code: "a.group"},
		{Code: "a.byName"},
		{Code: "a.byHost"},
		{Code: "a.options"},
		{Code: "a.kept"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}
