package architecture

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
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
