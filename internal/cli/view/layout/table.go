package layout

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// gap is the number of spaces between two columns.
const gap = 2

// Table is a table whose columns fit a width.
type Table struct {
	// Header names the columns.
	Header []string
	// Rows have a text for each column.
	Rows [][]string
	// Drop names the columns that are left out, in this order, until a row fits the width.
	Drop []string
	// WrapLast reports whether the last column holds sentences, which are wrapped. In a narrow terminal they are on lines
	// of their own.
	WrapLast bool
}

// minLast is the smallest width of a last column that is wrapped next to the others.
const minLast = 40

// String returns the table in lines of at most width characters, as far as its texts allow.
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
	last := len(widths) - 1
	lead := total(widths[:last]) + gap*last
	own := t.WrapLast && width > 0 && width-lead < min(minLast, widths[last])
	for i, row := range rows {
		var cells strings.Builder
		for column := range last {
			cells.WriteString(pad(row[column], widths[column]+gap))
		}
		line := cells.String()
		switch {
		case !t.WrapLast || width == 0:
			out.WriteString(strings.TrimRight(line+row[last], " ") + "\n")
		case own && i == 0:
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		case own:
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			for _, text := range Wrap(row[last], width-gap) {
				out.WriteString(strings.Repeat(" ", gap) + text + "\n")
			}
		default:
			for n, text := range Wrap(row[last], width-lead) {
				if n > 0 {
					line = strings.Repeat(" ", lead)
				}
				out.WriteString(strings.TrimRight(line+text, " ") + "\n")
			}
		}
	}
	return out.String()
}

// width returns the number of characters of the widest row with these columns.
func (t *Table) width(columns []int) int {
	widths := t.widths(columns)
	if t.WrapLast {
		widths[len(widths)-1] = min(widths[len(widths)-1], minLast)
	}
	return total(widths) + gap*(len(widths)-1)
}

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
