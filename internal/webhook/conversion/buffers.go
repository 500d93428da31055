package conversion

import (
	"bufio"
	"sync"
)

// buffers are the memory that a review works in. Small ones go on to the next review: most reviews have one object, and
// to allocate these would take as long as to convert it.
type buffers struct {
	in           *bufio.Reader
	object, held []byte
}

// maxKept is how many bytes a buffer may have to go on to the next review.
const maxKept = 64 << 10

var spare = sync.Pool{New: func() any { return &buffers{in: bufio.NewReaderSize(nil, readAhead)} }}

func takeBuffers() *buffers {
	taken, ok := spare.Get().(*buffers)
	if !ok {
		panic("the pool has something else than buffers") // it is filled here alone
	}
	return taken
}

// giveBack ends the use of the buffers, which keep nothing of the review.
func (b *buffers) giveBack(object, held []byte) {
	b.in.Reset(nil)
	b.object, b.held = kept(object), kept(held)
	spare.Put(b)
}

func kept(buffer []byte) []byte {
	if cap(buffer) > maxKept {
		return nil
	}
	return buffer[:0]
}
