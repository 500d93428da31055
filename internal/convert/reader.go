package convert

import (
	"encoding/json"

	"github.com/llamastack/llama-stack-k8s-operator/internal/jsontext"
)

// maxNesting is how deep objects and lists are nested at most in what is JSON, as for encoding/json.
const maxNesting = 10_000

// reader reads JSON. It takes just what encoding/json takes, and looks at each byte once: whether it is valid, and where
// its values end. A place behind the end of the data says that it is not.
type reader struct {
	data []byte
	// taken says that a reader has taken the data before: it is not checked again.
	taken bool
	// closing are the brackets that close what value is in at a place, and depth is how many objects it is in beside.
	closing []byte
	depth   int
	// arena is where the objects come from.
	arena *arena
	// deepest is how many objects and lists are nested at most.
	deepest int
}

// roomForClosing is how deep most values are nested at most.
const roomForClosing = 64

// bad is the place of what is no JSON.
func (r *reader) bad() int { return len(r.data) + 1 }

// at is the byte at a place, and 0 behind the end.
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

// enter goes into the object or list that begins at a place.
func (r *reader) enter(i int) int {
	if r.deepest = max(r.deepest, r.depth+len(r.closing)); r.deepest > maxNesting {
		return r.bad()
	}
	return r.space(i + 1)
}

// value leads behind the value at a place. It takes no more stack for a deep value than for a flat one.
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

// after leads from behind a value to the next one of the objects and lists it is in, or behind the outermost of them.
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

// key leads behind the key at a place, and to the value of it.
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

// scalar leads behind a text, a number, a boolean or null.
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

// text leads behind a text.
func (r *reader) text(i int) int {
	for i++; i < len(r.data); i++ {
		i = jsontext.Plain(r.data, i)
		switch r.at(i) {
		case '"':
			return i + 1
		case '\\':
			i = r.escape(i + 1)
		default:
			return r.bad() // a control character, or the end
		}
	}
	return r.bad()
}

// escape leads to the last byte of what comes after a backslash.
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

// digits leads behind digits. There has to be one.
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

// again reads what a reader has taken.
func again(raw []byte) *reader { return &reader{data: raw, taken: true} }

// skip leads behind a value that was taken before.
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

// skipText leads behind a text that was taken before: all that means something in it are escapes of two bytes or more.
func (r *reader) skipText(i int) int {
	for i++; ; i += len(`\"`) {
		if i = jsontext.Plain(r.data, i); r.data[i] == '"' {
			return i + 1
		}
	}
}

// depthOf is how deep the objects and lists of a value are nested.
func depthOf(raw json.RawMessage) int {
	r := reader{data: raw}
	r.value(0)
	return r.deepest
}
