package registry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// atHand is up to how many bytes a layer is read before it is unpacked.
const atHand = 1 << 20

// Windows of zstd that are in use at once, each with up to maxWindow bytes. Layers that are at hand need theirs for no
// longer than it takes to unpack them; what has yet to arrive keeps none of them waiting.
var (
	windowsAtHand   = make(chan struct{}, 2)
	windowsArriving = make(chan struct{}, 2)
)

// decoders are those that nobody uses now.
var decoders = &sync.Pool{}

// unpackZstd unpacks a layer when there is a window for it.
func unpackZstd(ctx context.Context, content io.Reader) (io.Reader, func(), error) {
	var start bytes.Buffer
	size, err := io.Copy(&start, io.LimitReader(content, atHand+1))
	if err != nil {
		return nil, nil, errors.New("the layer cannot be read")
	}
	windows := windowsAtHand
	if size > atHand {
		windows = windowsArriving
	}
	select {
	case windows <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	decoder, err := unusedDecoder()
	if err == nil {
		err = decoder.Reset(io.MultiReader(&start, content))
	}
	if err != nil {
		<-windows
		return nil, nil, errors.New("the layer cannot be unpacked")
	}
	return decoder, func() {
		if decoder.Reset(nil) == nil { // it keeps nothing of the layer
			decoders.Put(decoder)
		}
		<-windows
	}, nil
}

func unusedDecoder() (*zstd.Decoder, error) {
	if decoder, ok := decoders.Get().(*zstd.Decoder); ok {
		return decoder, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}
