package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// A word is eight bytes, with the first byte in the lowest bits.
const (
	wordBytes = 8

	ones       = 0x0101010101010101 // each byte is 1
	highs      = ones << 7
	quotes     = ones * '"'
	backslash  = ones * '\\'
	spaces     = ones * ' '
	bitsInByte = 8
)

// Plain returns the index of the first byte at or after i that has a special meaning in a JSON string: a quote, a
// backslash or a control character. It returns the length of the string if there is none.
func Plain(text []byte, i int) int {
	for ; i <= len(text)-wordBytes; i += wordBytes {
		if found := meaning(binary.LittleEndian.Uint64(text[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/bitsInByte
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// PlainASCII is like Plain, but also stops at a byte that is not ASCII. JSON encoders can write other characters in
// several ways, but write ASCII text in only one.
func PlainASCII(text []byte, i int) int {
	for ; i <= len(text)-wordBytes; i += wordBytes {
		word := binary.LittleEndian.Uint64(text[i:])
		if found := meaning(word) | word&highs; found != 0 {
			return i + bits.TrailingZeros64(found)/bitsInByte
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' || c >= 1<<7 {
			break
		}
	}
	return i
}

// meaning returns a word in which the lowest set high bit marks the first quote, backslash or control character. The
// bits above it are arbitrary, because the subtraction of a larger byte borrows from the next byte.
func meaning(word uint64) uint64 {
	quote, escape := word^quotes, word^backslash // a byte that matches becomes 0
	return ((quote - ones) | (escape - ones) | (word - spaces)) &^ word & highs
}
