package conversion

import (
	"bufio"
	"sync"
)

// buffers holds the buffers of a review. Small buffers are reused for later reviews, because most reviews contain only
// one object, and the allocation of the buffers would take as long as the conversion of the object.
type buffers struct {
	in           *bufio.Reader
	object, held []byte
}

// maxKept bounds the size in bytes of a buffer that is reused.
const maxKept = 64 << 10

var spare = sync.Pool{New: func() any { return &buffers{in: bufio.NewReaderSize(nil, readAhead)} }}

func takeBuffers() *buffers {
	taken, ok := spare.Get().(*buffers)
	if !ok {
		panic("the pool contains a value that is not a buffer") // only this package fills the pool
	}
	return taken
}

// giveBack returns the buffers to the pool without references to the review.
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
