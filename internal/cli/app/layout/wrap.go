package layout

import (
	"strings"
	"unicode/utf8"
)

// MinWidth is the width of the narrowest supported terminal. A tree wraps the text of a node to at least half of
// MinWidth, and a narrower terminal wraps the lines itself.
const MinWidth = 40

// Wrap breaks text at spaces into lines of at most `width` characters. It does not break longer words, for example
// URLs, so that users can copy them. It keeps line breaks in the text. A width of zero means that lines are not broken.
func Wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(paragraph, width)...)
	}
	return lines
}

func wrapLine(text string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line, length := strings.Builder{}, 0
	for word := range strings.FieldsSeq(text) {
		size := utf8.RuneCountInString(word)
		if length > 0 && length+1+size > width {
			lines = append(lines, line.String())
			line.Reset()
			length = 0
		}
		if length == 0 {
			line.WriteString(indent)
			length = len(indent)
		} else {
			line.WriteByte(' ')
			length++
		}
		line.WriteString(word)
		length += size
	}
	return append(lines, line.String())
}

// Paragraph wraps text as Wrap does, and returns it with a line break at the end of each line.
func Paragraph(text string, width int) string {
	return strings.Join(Wrap(text, width), "\n") + "\n"
}
