package visible

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Writer writes text with visible control characters and invisible characters. Its methods are safe for concurrent use.
type Writer struct {
	to io.Writer

	mu sync.Mutex
	// rest is the incomplete character at the end of the last text.
	rest []byte
}

// New returns a Writer. It returns a Writer, and nil, unchanged.
func New(to io.Writer) io.Writer {
	if _, is := to.(*Writer); is || to == nil {
		return to
	}
	return &Writer{to: to}
}

// Raw returns the output below a Writer, for archives and for the terminal sequences of the command itself.
func Raw(to io.Writer) io.Writer {
	if w, is := to.(*Writer); is {
		return w.to
	}
	return to
}

// Write writes a text. It keeps an incomplete character at its end for the next text.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := text
	if len(w.rest) > 0 {
		whole = slices.Concat(w.rest, text)
	}
	end := complete(whole)
	if _, err := w.to.Write(shown(whole[:end], isHidden)); err != nil {
		return 0, err
	}
	w.rest = bytes.Clone(whole[end:])
	return len(text), nil
}

// Text returns a text with visible control characters and invisible characters.
func Text(text string) string { return string(shown([]byte(text), isHidden)) }

// Controls returns a text in which only control characters are visible, so that a YAML decoder can read JSON.
func Controls(text string) string { return string(shown([]byte(text), isControl)) }

// Line returns a text as one line. It also makes line breaks visible. Otherwise, a name with a line break could begin a
// line, for example a command to the CI system that runs the command.
func Line(text string) string {
	return lineEscapes.Replace(Text(text))
}

var lineEscapes = strings.NewReplacer(
	"\n", `\n`, "\r", `\r`, "\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`,
)

// complete returns the length of a text without an incomplete character at its end. A carriage return is incomplete,
// because it can begin a line break.
func complete(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if text[i] == '\r' && i == len(text)-1 || utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			return i
		}
	}
	return len(text)
}

// shown returns a text in which each hidden character is replaced with its escape sequence in JSON, so that JSON keeps
// its meaning. Tabs and line breaks do not change, and neither does U+0085, which is a line break that YAML permits.
// Other control characters do not occur in YAML.
func shown(text []byte, isHidden func(rune) bool) []byte {
	if bytes.IndexFunc(text, func(r rune) bool { return isHidden(r) || r == utf8.RuneError }) < 0 {
		return text
	}
	result := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			result = fmt.Appendf(result, `\x%02x`, text[0])
		case isHidden(r) && !bytes.HasPrefix(text, []byte("\r\n")):
			for _, unit := range utf16.AppendRune(nil, r) {
				result = fmt.Appendf(result, `\u%04x`, unit)
			}
		default:
			result = append(result, text[:size]...)
		}
		text = text[size:]
	}
	return result
}

func isHidden(r rune) bool { return isControl(r) || isInvisible(r) }

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\u0085' }

// isInvisible reports whether a character has no glyph. Such a character can change the direction of the text that
// follows, so that a reader sees other words, or make two names look equal. It can also be a part of an emoji.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// turns reports whether a character changes the direction of the text that follows, so that a reader sees other words.
func turns(r rune) bool { return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' }

// Documents writes YAML documents that keep their meaning. It makes only those characters visible that control a
// terminal or change the direction of the text, with double quotes around the text. A shipped configuration contains
// U+200B, and with double quotes around it, a configuration in a ConfigMap would be one line.
func Documents(to io.Writer, documents []byte) error {
	text, err := quoted(documents, turns)
	if err != nil {
		return err
	}
	_, err = Raw(to).Write(shown(text, func(r rune) bool { return isControl(r) || turns(r) }))
	return err
}

// YAML returns YAML documents that keep their meaning when a Writer makes their characters visible: texts that contain
// invisible characters are in double quotes. Other documents do not change.
func YAML(documents []byte) ([]byte, error) { return quoted(documents, isInvisible) }

func quoted(documents []byte, hidden func(rune) bool) ([]byte, error) {
	if !bytes.ContainsFunc(documents, hidden) {
		return documents, nil
	}
	var page bytes.Buffer
	decoder, encoder := yaml.NewDecoder(bytes.NewReader(documents)), yaml.NewEncoder(&page)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return page.Bytes(), encoder.Close()
		case err != nil:
			return nil, fmt.Errorf("quote a YAML document: %w", err)
		}
		quote(&document, hidden)
		if err := encoder.Encode(&document); err != nil {
			return nil, fmt.Errorf("quote a YAML document: %w", err)
		}
	}
}

func quote(node *yaml.Node, hidden func(rune) bool) {
	if strings.ContainsFunc(node.Value, hidden) {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		quote(child, hidden)
	}
}
