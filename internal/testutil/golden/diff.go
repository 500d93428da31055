package golden

import (
	"bytes"
	"slices"
	"strings"
)

// Diff returns the lines in which a text differs from a base, each group with a line before it and a line after it. For
// the omitted lines before a group, it shows the lines that contain the group, such as the keys above a value in YAML.
// A golden file with these lines shows only the subject of a case. Diff returns nothing for equal texts.
func Diff(base, text []byte) []byte {
	lines := compare(strings.SplitAfter(string(base), "\n"), strings.SplitAfter(string(text), "\n"))
	var out bytes.Buffer
	shown := 0
	for i, line := range lines {
		around := lines[max(0, i-1):min(len(lines), i+2)]
		if !slices.ContainsFunc(around, func(line string) bool { return line[0] != ' ' }) || line == " " {
			continue
		}
		if i > shown {
			out.WriteString(strings.Join(append([]string{"..."}, above(lines, i)...), " ") + "\n")
		}
		out.WriteString(line)
		shown = i + 1
	}
	return out.Bytes()
}

// above returns the lines that contain a line, according to their indentation.
func above(lines []string, at int) (found []string) {
	depth := indent(lines[at])
	for i := at - 1; i >= 0 && depth > 0; i-- {
		if d := indent(lines[i]); lines[i][0] != '-' && d < depth {
			found, depth = append(found, strings.TrimSpace(lines[i][1:])), d
		}
	}
	slices.Reverse(found)
	return found
}

// indent returns the indentation of a line after its mark. In YAML, an item of a list may have that of the list's key.
func indent(line string) int {
	text := strings.TrimLeft(line[1:], " ")
	spaces := 2 * (len(line) - 1 - len(text))
	if strings.HasPrefix(text, "- ") {
		return spaces + 1
	}
	return spaces
}

// compare returns the lines of two texts: those of both texts after a space, those of the first after a minus, and
// those of the second after a plus.
func compare(before, after []string) []string {
	// common is the number of equal lines in the rests of the texts that start at two indexes.
	common := make([][]int, len(before)+1)
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i, line := range slices.Backward(before) {
		for j, other := range slices.Backward(after) {
			if line == other {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []string
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			lines = append(lines, " "+before[i])
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "-"+before[i])
			i++
		default:
			lines = append(lines, "+"+after[j])
			j++
		}
	}
	return lines
}
