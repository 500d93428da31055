package change

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// context is the number of equal lines before and after a difference.
	context = 3
	// maxCells bounds the size of a comparison's table. If the table would be larger, the diff shows one text as removed
	// and the other as added.
	maxCells = 16 << 20
)

// edit is a line of a comparison: equal (' '), removed ('-') or added ('+').
type edit struct {
	mark byte
	text string
}

// unified returns the differences between two texts in the unified format, or "" for equal texts.
func unified(from, to, before, after string) string {
	if before == after {
		return ""
	}
	edits := edits(split(before), split(after))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for start := 0; start < len(edits); {
		if edits[start].mark == ' ' {
			start++
			continue
		}
		begin, end := max(0, start-context), hunkEnd(edits, start)
		writeHunk(&b, edits, begin, end)
		start = end
	}
	return b.String()
}

// hunkEnd returns the end of the hunk whose first difference is at `start`.
func hunkEnd(edits []edit, start int) int {
	last := start
	for i := start; i < len(edits) && i <= last+2*context; i++ {
		if edits[i].mark != ' ' {
			last = i
		}
	}
	return min(len(edits), last+1+context)
}

func writeHunk(b *strings.Builder, edits []edit, begin, end int) {
	before, after := 1, 1
	for _, e := range edits[:begin] {
		if e.mark != '+' {
			before++
		}
		if e.mark != '-' {
			after++
		}
	}
	var removed, added int
	for _, e := range edits[begin:end] {
		if e.mark != '+' {
			removed++
		}
		if e.mark != '-' {
			added++
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(before, removed), span(after, added))
	for _, e := range edits[begin:end] {
		fmt.Fprintf(b, "%c%s\n", e.mark, e.text)
	}
}

// span returns the position of a hunk. The position of an empty hunk is the line before it.
func span(first, count int) string {
	if count == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, count)
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// edits returns the shortest list of edits, which keeps the longest common subsequence of the lines. If the table of
// the comparison would have more than maxCells entries, the list can be longer.
func edits(a, b []string) []edit {
	var found, end []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		found = append(found, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		end = append(end, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	found = append(found, differing(a, b)...)
	for i := range end {
		found = append(found, end[len(end)-1-i])
	}
	return found
}

// commonLengths returns a table of the lengths of the longest common subsequences: the entry i*(len(b)+1)+j is for
// a[i:] and b[j:]. It returns nil if the table would have more than maxCells entries.
func commonLengths(a, b []string) []int32 {
	width := len(b) + 1
	if (len(a)+1)*width > maxCells {
		return nil
	}
	longest := make([]int32, (len(a)+1)*width)
	for i, before := range slices.Backward(a) {
		for j, after := range slices.Backward(b) {
			if before == after {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	return longest
}

// differing returns the edits for two texts that have neither the first line nor the last line in common.
func differing(a, b []string) []edit {
	var found []edit
	width, longest := len(b)+1, commonLengths(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case longest != nil && i < len(a) && j < len(b) && a[i] == b[j]:
			found = append(found, edit{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || longest == nil || longest[(i+1)*width+j] >= longest[i*width+j+1]):
			found = append(found, edit{'-', a[i]})
			i++
		default:
			found = append(found, edit{'+', b[j]})
			j++
		}
	}
	return found
}
