package script

import (
	"regexp"
	"slices"
	"strings"
)

// Ellipsis matches any text in a line, and any number of lines if it is alone on a line.
const Ellipsis = "…"

// gap matches the space between two columns. The width of the space depends on the longest cell.
var gap = regexp.MustCompile(`(\S)[ \t]{2,}`)

// Lines splits an output into lines. It removes the trailing white space of each line and the trailing empty lines.
func Lines(output string) []string {
	lines := strings.Split(output, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Matches reports whether an output matches the output that a page shows.
func Matches(shown []string, output string) bool {
	lines := Lines(output)
	// fits[j] reports whether the lines from index j match the remaining patterns.
	fits := make([]bool, len(lines)+1)
	fits[len(lines)] = true
	for _, pattern := range slices.Backward(trimmed(shown)) {
		next := make([]bool, len(lines)+1)
		for j := len(lines); j >= 0; j-- {
			if isEllipsis(pattern) {
				next[j] = fits[j] || j < len(lines) && next[j+1]
			} else {
				next[j] = j < len(lines) && fits[j+1] && lineMatches(pattern, lines[j])
			}
		}
		fits = next
	}
	return fits[0]
}

func trimmed(shown []string) []string { return Lines(strings.Join(shown, "\n")) }

func isEllipsis(line string) bool { return strings.TrimSpace(line) == Ellipsis }

// lineMatches reports whether a line matches the line that a page shows.
func lineMatches(pattern, line string) bool {
	parts := strings.Split(narrow(pattern), Ellipsis)
	line = narrow(line)
	rest, found := strings.CutPrefix(line, parts[0])
	if !found {
		return false
	}
	for i, part := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return rest == ""
}

// narrow replaces the space between columns with two spaces. It does not change the indentation.
func narrow(line string) string {
	return gap.ReplaceAllString(strings.TrimRight(line, " \t\r"), "$1  ")
}

// Merge returns the lines that the page must show for an output. It retains the lines of the page that still match,
// with their ellipses.
func Merge(shown []string, output string) []string {
	shown, lines := trimmed(shown), Lines(output)
	if len(lines) == 0 {
		return nil
	}
	pairs := pair(shown, lines)
	var merged []string
	for i, j := 0, 0; i < len(shown) || j < len(lines); {
		switch {
		case i < len(shown) && isEllipsis(shown[i]):
			// The ellipsis is retained if the lines before and after it match, because it matches the lines between them.
			end := len(lines)
			if i+1 < len(shown) {
				end = pairs[i+1]
			}
			before := i == 0 && j == 0 || i > 0 && (pairs[i-1] == j-1 && j > 0 || isEllipsis(shown[i-1]))
			if before && end >= j {
				merged, j = append(merged, shown[i]), end
			}
			i++
		case i < len(shown) && pairs[i] == j:
			merged = append(merged, shown[i])
			i, j = i+1, j+1
		case i < len(shown) && pairs[i] < 0:
			i++ // a line on the page that is not in the output
		default:
			merged = append(merged, lines[j])
			j++
		}
	}
	return merged
}

// pair returns the index of the matching output line for each shown line, or -1. The pairs are a longest common
// subsequence.
func pair(shown, lines []string) []int {
	longest := make([][]int, len(shown)+1)
	for i := range longest {
		longest[i] = make([]int, len(lines)+1)
	}
	same := func(i, j int) bool { return !isEllipsis(shown[i]) && lineMatches(shown[i], lines[j]) }
	for i := range slices.Backward(shown) {
		for j := len(lines) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if same(i, j) {
				longest[i][j] = max(longest[i][j], longest[i+1][j+1]+1)
			}
		}
	}
	pairs := make([]int, len(shown))
	for i := range pairs {
		pairs[i] = -1
	}
	for i, j := 0, 0; i < len(shown) && j < len(lines); {
		switch {
		case same(i, j) && longest[i][j] == longest[i+1][j+1]+1:
			pairs[i] = j
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// Change is a new output of a command.
type Change struct {
	Command *Command
	Output  string
}

// Update returns the text of a page with new outputs. The changes must be in the order in which their commands appear
// on the page.
func Update(text string, changes []Change) string {
	lines := strings.Split(text, "\n")
	for _, change := range slices.Backward(changes) {
		command := change.Command
		var output []string
		for _, line := range Merge(command.Output, change.Output) {
			output = append(output, strings.TrimRight(command.indent+line, " \t"))
		}
		lines = slices.Replace(lines, command.first, command.last, output...)
	}
	return strings.Join(lines, "\n")
}
