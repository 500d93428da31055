package registry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// atHand is the size in bytes up to which a layer is read into memory before it is unpacked.
const atHand = 1 << 20

// These channels limit the zstd windows that are in use at the same time. Each window has up to maxWindow bytes. A
// layer in memory needs its window only while it is unpacked, so a layer that is still being transferred does not block
// a layer in memory.
var (
	windowsAtHand   = make(chan struct{}, 2)
	windowsArriving = make(chan struct{}, 2)
)

// decoders holds idle decoders for reuse.
var decoders = &sync.Pool{}

// unpackZstd waits until a window is free. It returns a reader for the unpacked layer, and a function that frees the
// window again.
func unpackZstd(ctx context.Context, content io.Reader) (io.Reader, func(), error) {
	var start bytes.Buffer
	size, err := io.Copy(&start, io.LimitReader(content, atHand+1))
	if err != nil {
		return nil, nil, errors.New("the layer cannot be read")
	}
	free, err := takeWindow(ctx, size > atHand)
	if err != nil {
		return nil, nil, err
	}
	decoder, err := unusedDecoder()
	if err == nil {
		err = decoder.Reset(io.MultiReader(&start, content))
	}
	if err != nil {
		free()
		return nil, nil, errUnpack
	}
	return decoder, func() {
		if decoder.Reset(nil) == nil { // the idle decoder keeps no reference to the layer
			decoders.Put(decoder)
		}
		free()
	}, nil
}

// takeWindow waits until a window is free, and returns the function that frees the window again.
func takeWindow(ctx context.Context, arriving bool) (free func(), err error) {
	windows := windowsAtHand
	if arriving {
		windows = windowsArriving
	}
	select {
	case windows <- struct{}{}:
		return func() { <-windows }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func unusedDecoder() (*zstd.Decoder, error) {
	if decoder, ok := decoders.Get().(*zstd.Decoder); ok {
		return decoder, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
}
