package jsontext_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/jsontext"
)

// slow implements Plain and PlainASCII byte by byte.
func slow(text []byte, i int, ends func(byte) bool) int {
	if n := slices.IndexFunc(text[i:], ends); n >= 0 {
		return i + n
	}
	return len(text)
}

func hasMeaning(c byte) bool { return c == '"' || c == '\\' || c < ' ' }

func hasMeaningOrIsNotASCII(c byte) bool { return hasMeaning(c) || c >= 0x80 }

func check(t *testing.T, text []byte) {
	t.Helper()
	for i := range len(text) + 1 {
		if got, want := jsontext.Plain(text, i), slow(text, i, hasMeaning); got != want {
			t.Fatalf("Plain(%q, %d) = %d, want %d", text, i, got, want)
		}
		if got, want := jsontext.PlainASCII(text, i), slow(text, i, hasMeaningOrIsNotASCII); got != want {
			t.Fatalf("PlainASCII(%q, %d) = %d, want %d", text, i, got, want)
		}
	}
}

// The test checks every byte at every index in strings of up to three words, and every pair of adjacent bytes.
func TestPlain(t *testing.T) {
	for length := range 3*8 + 1 {
		for place := range length {
			for c := range 256 {
				text := bytes.Repeat([]byte("a"), length)
				text[place] = byte(c)
				check(t, text)
			}
		}
	}
	for a := range 256 {
		for b := range 256 {
			check(t, []byte{'a', byte(a), byte(b), 'a', 'a', 'a', 'a', 'a', 'a'})
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte(`some text with a "quote"`))
	f.Add([]byte("ein Täxt"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}
