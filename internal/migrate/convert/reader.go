package convert

import "github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"

// maxNesting bounds the nesting of objects and lists in JSON, as in encoding/json.
const maxNesting = 10_000

// reader reads JSON. It accepts exactly what encoding/json accepts. It reads each byte once, to validate it and to find
// the end of values. An index greater than the length of the data means that the data is invalid.
type reader struct {
	data []byte
	// taken reports whether the data has already been validated and need not be checked again.
	taken bool
	// closing holds the closing brackets of the objects and lists that the method `value` has entered. The field `depth`
	// counts the surrounding objects that the method `object` has entered.
	closing []byte
	depth   int
	// arena is the source of objects.
	arena *arena
	// deepest is the maximum nesting of objects and lists so far.
	deepest int
}

// roomForClosing is the nesting depth that is enough for most values.
const roomForClosing = 64

// bad returns the index that marks invalid JSON.
func (r *reader) bad() int { return len(r.data) + 1 }

// at returns the byte at an index, or 0 after the end.
func (r *reader) at(i int) byte {
	if i < len(r.data) {
		return r.data[i]
	}
	return 0
}

func (r *reader) space(i int) int {
	for i < len(r.data) && (r.data[i] == ' ' || r.data[i] == '\n' || r.data[i] == '\t' || r.data[i] == '\r') {
		i++
	}
	return i
}

// enter enters the object or list that begins at an index.
func (r *reader) enter(i int) int {
	if r.deepest = max(r.deepest, r.depth+len(r.closing)); r.deepest > maxNesting {
		return r.bad()
	}
	return r.space(i + 1)
}

// value returns the index after the value at i. The depth of the value does not affect the size of the call stack.
func (r *reader) value(i int) int {
	if r.taken {
		return r.skip(i)
	}
	around := len(r.closing)
	for {
		switch r.at(i) {
		case '{':
			r.closing = append(r.closing, '}')
			if i = r.enter(i); r.at(i) != '}' {
				_, i = r.key(i)
				continue
			}
		case '[':
			r.closing = append(r.closing, ']')
			if i = r.enter(i); r.at(i) != ']' {
				continue
			}
		default:
			i = r.scalar(i)
		}
		if i = r.after(i, around); len(r.closing) == around || i > len(r.data) {
			return i
		}
	}
}

// after returns the index of the next value in the surrounding objects and lists, or the index after them.
func (r *reader) after(i, around int) int {
	for len(r.closing) > around {
		i = r.space(i)
		closing := r.closing[len(r.closing)-1]
		switch c := r.at(i); {
		case c == closing:
			r.closing = r.closing[:len(r.closing)-1]
			i++
		case c != ',':
			return r.bad()
		case closing == '}':
			_, i = r.key(r.space(i + 1))
			return i
		default:
			return r.space(i + 1)
		}
	}
	return i
}

// key returns the index after the key at i, and the index of its value.
func (r *reader) key(i int) (end, start int) {
	if r.at(i) != '"' {
		return r.bad(), r.bad()
	}
	end = r.text(i)
	if i = r.space(end); r.at(i) != ':' {
		return r.bad(), r.bad()
	}
	return end, r.space(i + 1)
}

// scalar returns the index after a string, a number, a boolean or null.
func (r *reader) scalar(i int) int {
	switch r.at(i) {
	case '"':
		return r.text(i)
	case 't':
		return r.word(i, "true")
	case 'f':
		return r.word(i, "false")
	case 'n':
		return r.word(i, "null")
	default:
		return r.number(i)
	}
}

func (r *reader) word(i int, word string) int {
	if end := i + len(word); end <= len(r.data) && string(r.data[i:end]) == word {
		return end
	}
	return r.bad()
}

// text returns the index after a string.
func (r *reader) text(i int) int {
	for i++; i < len(r.data); i++ {
		i = jsontext.Plain(r.data, i)
		switch r.at(i) {
		case '"':
			return i + 1
		case '\\':
			i = r.escape(i + 1)
		default:
			return r.bad() // The byte is a control character, or the data ends.
		}
	}
	return r.bad()
}

// escape returns the index of the last byte of an escape sequence, given the index after the backslash.
func (r *reader) escape(i int) int {
	switch r.at(i) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i
	case 'u':
		for range 4 {
			i++
			if c := r.at(i); (c < '0' || c > '9') && (c|' ' < 'a' || c|' ' > 'f') {
				return r.bad()
			}
		}
		return i
	default:
		return r.bad()
	}
}

func (r *reader) number(i int) int {
	if r.at(i) == '-' {
		i++
	}
	if r.at(i) == '0' {
		i++
	} else {
		i = r.digits(i)
	}
	if r.at(i) == '.' {
		i = r.digits(i + 1)
	}
	if r.at(i)|' ' == 'e' {
		if i++; r.at(i) == '+' || r.at(i) == '-' {
			i++
		}
		i = r.digits(i)
	}
	return i
}

// digits returns the index after one or more digits.
func (r *reader) digits(i int) int {
	start := i
	for c := r.at(i); c >= '0' && c <= '9'; c = r.at(i) {
		i++
	}
	if i == start {
		return r.bad()
	}
	return i
}

// again returns a reader for validated data.
func again(raw []byte) *reader { return &reader{data: raw, taken: true} }

// skip returns the index after a validated value.
func (r *reader) skip(i int) int {
	for depth := 0; ; {
		switch r.data[i] {
		case '"':
			i = r.skipText(i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			if depth == 0 {
				return r.scalar(i)
			}
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
}

// skipText returns the index after a validated string. Each escape sequence has at least two bytes.
func (r *reader) skipText(i int) int {
	for i++; ; i += len(`\"`) {
		if i = jsontext.Plain(r.data, i); r.data[i] == '"' {
			return i + 1
		}
	}
}
