package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// A word is eight bytes, the first of them the lowest.
const (
	wordBytes = 8

	ones       = 0x0101010101010101 // 1 in each byte
	highs      = ones << 7
	quotes     = ones * '"'
	backslash  = ones * '\\'
	spaces     = ones * ' '
	bitsInByte = 8
)

// Plain returns where in a JSON text, from a place on, the first byte is that does not stand for itself: a quote, a
// backslash or a control character. Where there is none, that is the end.
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

// PlainASCII is Plain for a text that has one spelling only: it ends before a byte that is not ASCII, too.
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

// meaning has the high bit of the first byte that is a quote, a backslash or a control character. Bits above that one
// mean nothing: a byte that is below what is subtracted from it borrows from the next.
func meaning(word uint64) uint64 {
	quote, escape := word^quotes, word^backslash // 0 in a byte that is one
	return ((quote - ones) | (escape - ones) | (word - spaces)) &^ word & highs
}
