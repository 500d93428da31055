package conversion

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"
)

// scanner reads JSON from a stream, value by value. It keeps only the requested values, and needs no more memory for a
// deep value than for a flat one. It does not validate the content of a value that it does not keep.
type scanner struct {
	in *bufio.Reader
	// last is the last string that was read, in its JSON form.
	last []byte
}

// errSyntax is the error for invalid JSON.
var errSyntax = errors.New("the review is not valid JSON")

// errTooLong is the error for a value longer than the limit.
var errTooLong = errors.New("too long")

// next returns the first byte that is not white space, and leaves it in the stream.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return 0, early(err)
		}
		if !isSpace(c) {
			return c, s.in.UnreadByte()
		}
	}
}

// take reads one required byte.
func (s *scanner) take(want byte) error {
	c, err := s.next()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("%w: found %q, but %q is required", errSyntax, c, want)
	}
	_, err = s.in.Discard(1)
	return err
}

// fields calls a function for every field of an object. The function has to read the value.
func (s *scanner) fields(each func(key string) error) error {
	return s.items('{', '}', func(int) error {
		key, err := s.text()
		if err != nil {
			return err
		}
		if err := s.take(':'); err != nil {
			return err
		}
		return each(key)
	})
}

// items calls a function for every item between two brackets.
func (s *scanner) items(opening, closing byte, each func(i int) error) error {
	if err := s.take(opening); err != nil {
		return err
	}
	if c, err := s.next(); err != nil || c == closing {
		_, _ = s.in.Discard(1)
		return err
	}
	for i := 0; ; i++ {
		if err := each(i); err != nil {
			return err
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		_, _ = s.in.Discard(1)
		if c == closing {
			return nil
		}
		if c != ',' {
			return fmt.Errorf("%w: found %q between two values", errSyntax, c)
		}
	}
}

// maxText bounds the length of each string that the method `text` reads. In a valid review, these strings are shorter.
const maxText = 1 << 10

// text reads a value that has to be a string.
func (s *scanner) text() (string, error) {
	var err error
	if s.last, err = s.value(s.last[:0], maxText); err != nil {
		return "", err
	}
	if plainString, ok := plainString(s.last); ok {
		return plainString, nil
	}
	var text string
	if err := json.Unmarshal(s.last, &text); err != nil {
		return "", fmt.Errorf("%w: found a value of a different type, but a string is required", errSyntax)
	}
	return text, nil
}

// plainString returns the value of an ASCII string without escapes. Most strings have this form. The function returns
// false for all other strings.
func plainString(raw []byte) (string, bool) {
	last := len(raw) - 1
	if last < 1 || raw[0] != '"' || raw[last] != '"' {
		return "", false
	}
	if jsontext.PlainASCII(raw, 1) < last {
		return "", false
	}
	return string(raw[1:last]), true
}

// skip skips a value.
func (s *scanner) skip() error { return s.scan(func([]byte) {}) }

// value appends a value to dst. If the value is longer than `limit`, the method truncates the value, reads it to its
// end, and returns an error.
func (s *scanner) value(dst []byte, limit int) ([]byte, error) {
	tooLong := false
	err := s.scan(func(part []byte) {
		room := limit - len(dst)
		tooLong = tooLong || len(part) > room
		dst = append(dst, part[:min(len(part), room)]...)
	})
	if err == nil && tooLong {
		err = errTooLong
	}
	return dst, err
}

// scan passes a value to a function, part by part.
func (s *scanner) scan(each func(part []byte)) error {
	if _, err := s.next(); err != nil {
		return err
	}
	var e ender
	for first := true; ; first = false {
		if _, err := s.in.Peek(1); err != nil {
			return early(err)
		}
		part, _ := s.in.Peek(s.in.Buffered())
		end, done := e.scan(part)
		if done && first && end == 0 {
			return fmt.Errorf("%w: found %q, but a value is required", errSyntax, part[0])
		}
		each(part[:end])
		_, _ = s.in.Discard(end)
		if done {
			return nil
		}
	}
}

// ender finds the end of a value.
type ender struct {
	depth           int
	inText, escaped bool
	// scalar reports whether the value is a number or a literal, which ends before the next byte that does not belong to
	// it.
	scalar bool
}

// scan returns the number of bytes of a part that belong to the value, and whether the value ends after them.
func (e *ender) scan(part []byte) (int, bool) {
	for i := 0; i < len(part); i++ {
		if e.inText {
			if i = e.text(part, i); e.inText {
				break
			}
			if e.depth == 0 {
				return i, true
			}
			if i == len(part) {
				break
			}
		}
		switch c := part[i]; {
		case e.depth > 0 && !structural[c]:
		case c == '"' && !e.scalar:
			e.inText = true
		case c == '{' || c == '[':
			e.depth++
		case (c == '}' || c == ']') && e.depth > 0:
			if e.depth--; e.depth == 0 {
				return i + 1, true
			}
		case e.depth == 0 && (isSpace(c) || c == ',' || c == ':' || c == '}' || c == ']'):
			return i, true
		case e.depth == 0:
			e.scalar = true
		}
	}
	return len(part), false
}

// text returns the index after the string that contains i, or the end of the part.
func (e *ender) text(part []byte, i int) int {
	for ; i < len(part); i++ {
		if e.escaped {
			e.escaped = false
			continue
		}
		if i = jsontext.Plain(part, i); i == len(part) {
			break
		}
		switch part[i] {
		case '\\':
			e.escaped = true
		case '"':
			e.inText = false
			return i + 1
		}
	}
	return i
}

// structural are the bytes that begin or end a string, an object or a list.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// early turns the end of a stream into an error about a truncated review.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is truncated", errSyntax)
	}
	return fmt.Errorf("read the review: %w", err)
}
