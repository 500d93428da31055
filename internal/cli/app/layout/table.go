package layout

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// gap is the number of spaces between two columns.
const gap = 2

// Table is a table that is adapted to the width of a terminal.
type Table struct {
	// Header names the columns.
	Header []string
	// Rows contain a string for each column.
	Rows [][]string
	// Drop names the columns that String omits, in this order, until the rows fit the width.
	Drop []string
	// WrapLast reports whether the last column contains sentences, which are wrapped. On a narrow terminal, the sentences
	// are on separate lines.
	WrapLast bool
}

// minLast is the minimum width of a wrapped last column next to the other columns.
const minLast = 40

// String returns the table. It omits columns and wraps the last column to keep lines within `width` characters, but a
// line may be longer if its cells are long. A width of zero means no limit.
func (t *Table) String(width int) string {
	columns := make([]int, len(t.Header))
	for i := range columns {
		columns[i] = i
	}
	for _, name := range t.Drop {
		if width == 0 || t.width(columns) <= width {
			break
		}
		columns = slices.DeleteFunc(columns, func(i int) bool { return t.Header[i] == name })
	}
	rows := make([][]string, 0, len(t.Rows)+1)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		cells := make([]string, 0, len(columns))
		for _, i := range columns {
			cells = append(cells, strings.ReplaceAll(row[i], "\n", " "))
		}
		rows = append(rows, cells)
	}
	return t.draw(rows, t.widths(columns), width)
}

func (t *Table) draw(rows [][]string, widths []int, width int) string {
	var out strings.Builder
	write := func(line string) { out.WriteString(strings.TrimRight(line, " ") + "\n") }
	last := len(widths) - 1
	lead := total(widths[:last]) + gap*last
	separate := t.WrapLast && width > 0 && width-lead < min(minLast, widths[last])
	for i, row := range rows {
		line := leading(row[:last], widths)
		switch {
		case !t.WrapLast || width == 0:
			write(line + row[last])
		case separate:
			write(line)
			if i > 0 { // the header of the last column is omitted
				out.WriteString(indented(row[last], width))
			}
		default:
			for _, text := range Wrap(row[last], width-lead) {
				write(line + text)
				line = strings.Repeat(" ", lead)
			}
		}
	}
	return out.String()
}

// indented wraps text into lines that begin with a gap.
func indented(text string, width int) string {
	var out strings.Builder
	for _, line := range Wrap(text, width-gap) {
		out.WriteString(strings.Repeat(" ", gap) + line + "\n")
	}
	return out.String()
}

// leading returns the cells before the last column, each padded to the width of its column.
func leading(row []string, widths []int) string {
	var cells strings.Builder
	for column, text := range row {
		cells.WriteString(text + strings.Repeat(" ", max(0, widths[column]+gap-utf8.RuneCountInString(text))))
	}
	return cells.String()
}

// width returns the width of a table with only these columns.
func (t *Table) width(columns []int) int {
	widths := t.widths(columns)
	if t.WrapLast {
		widths[len(widths)-1] = min(widths[len(widths)-1], minLast)
	}
	return total(widths) + gap*(len(widths)-1)
}

// widths returns the width of each column.
func (t *Table) widths(columns []int) []int {
	widths := make([]int, len(columns))
	for n, i := range columns {
		widths[n] = utf8.RuneCountInString(t.Header[i])
		for _, row := range t.Rows {
			widths[n] = max(widths[n], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

func total(widths []int) int {
	sum := 0
	for _, width := range widths {
		sum += width
	}
	return sum
}

// Omit removes a column.
func (t *Table) Omit(name string) {
	i := slices.Index(t.Header, name)
	if i < 0 {
		return
	}
	t.Header = slices.Delete(slices.Clone(t.Header), i, i+1)
	for n := range t.Rows {
		t.Rows[n] = slices.Delete(t.Rows[n], i, i+1)
	}
}

// Unknown is the text for an unknown value.
const Unknown = "-"

// Age returns the time since `at` in the format of kubectl, or Unknown if `at` is zero.
func Age(at, now time.Time) string {
	if at.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(max(0, now.Sub(at)))
}
