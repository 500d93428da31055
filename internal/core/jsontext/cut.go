package jsontext

// Cut returns a JSON text that is not nested deeper than a number of levels, and the depth of the original text. It
// returns a text that is not deeper unchanged, without a copy. In a text that is deeper, the objects and lists at the
// last level are empty. Cut needs no stack, whatever the depth of the text is.
func Cut(text []byte, most int) (cut []byte, deepest int) {
	depth, kept := 0, 0 // kept is the index after the part of the text that cut contains
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = end(text, i)
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
			if depth == most {
				cut = append(cut, text[kept:i+1]...)
			}
		case '}', ']':
			if depth == most {
				kept = i
			}
			depth--
		}
	}
	if deepest <= most {
		return text, deepest
	}
	return append(cut, text[kept:]...), deepest
}

// end returns the index of the closing quote of the string that begins at an index.
func end(text []byte, i int) int {
	for i = Plain(text, i+1); i < len(text) && text[i] != '"'; i = Plain(text, i+1) {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}
