package registry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

// atHand is the size in bytes up to which a layer is read into memory before it is unpacked.
const atHand = 1 << 20

// These are the limits of zstd windows that are in use at the same time, in total and for one namespace. Each window
// has up to maxWindow bytes. A layer in memory needs its window only while it is unpacked, so a layer that is still
// being transferred does not block a layer in memory. A registry can stall a transfer, which then holds its window
// until the time for the read is over, so a namespace never holds more than one of the windows.
const (
	windows             = 2
	windowsPerNamespace = 1
)

var (
	windowsAtHand   = share.NewSlots(windows, windowsPerNamespace)
	windowsArriving = share.NewSlots(windows, windowsPerNamespace)
)

// decoders holds idle decoders for reuse.
var decoders = &sync.Pool{}

// unpackZstd waits until a window is free. It returns a reader for the unpacked layer, and a function that frees the
// window again. The function keeps the decoder for another layer only if the decoder is intact: a panic can leave it in
// a state that gives another tenant's layer a wrong content.
func unpackZstd(ctx context.Context, content io.Reader) (io.Reader, func(intact bool), error) {
	var start bytes.Buffer
	size, err := io.Copy(&start, io.LimitReader(content, atHand+1))
	if err != nil {
		return nil, nil, errors.New("the layer cannot be read")
	}
	slots := windowsAtHand
	if size > atHand {
		slots = windowsArriving
	}
	release, err := slots.Take(ctx, namespaceFrom(ctx))
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	free := func() {
		release()
		slots.Worked(namespaceFrom(ctx), time.Since(began))
	}
	decoder, err := unusedDecoder()
	if err == nil {
		err = decoder.Reset(io.MultiReader(&start, content))
	}
	if err != nil {
		free()
		return nil, nil, errUnpack
	}
	return decoder, func(intact bool) {
		if intact && decoder.Reset(nil) == nil { // the idle decoder keeps no reference to the layer
			decoders.Put(decoder)
		}
		free()
	}, nil
}

func unusedDecoder() (*zstd.Decoder, error) {
	if decoder, ok := decoders.Get().(*zstd.Decoder); ok {
		return decoder, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
}
