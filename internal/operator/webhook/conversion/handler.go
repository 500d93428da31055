package conversion

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/go-logr/logr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/intake"
)

// wholeReview is the maximum size of a review that is read before it is converted. It has room for one object of the
// maximum size. An API server puts one object into a review. A larger review is a list, which is converted while it is
// read, after its first streamHead bytes arrived.
const (
	wholeReview = maxObject + 1<<20
	streamHead  = 64 << 10
	// readAhead is the size of the buffer for a list that is converted while it is read.
	readAhead = 32 << 10
)

// These limits bound the memory: the bodies in memory, and those that are converted at the same time. The conversion of
// a body takes up to three times its size, and of one with only short fields up to twenty times. A list that is
// converted while it is read takes 32 MiB if its objects have the maximum size.
var (
	largeLimits = intake.Limits{Held: 32 << 20, Worked: 8 << 20}
	// An ordinary stack takes a few KiB, so that large reviews never delay it.
	smallLimits = intake.Limits{Held: 8 << 20, Worked: 4 << 20}
)

// smallReview is the maximum size of a review with limits of its own.
const smallReview = 64 << 10

// Handler serves ConversionReviews of apiextensions.k8s.io/v1 for LlamaStackDistributions.
//
// Every response to a POST request with JSON is a ConversionReview. A failed conversion has the result Failure, with a
// message that names the object. The status code of such a response is still 200, because an API server does not show
// the message in a response with a different code. The status code is 400 for a request that is not a review, 405 for a
// method other than POST, and 415 for a media type other than JSON. It is 408 for a client that does not send the
// review in time.
//
// The uid, the desiredAPIVersion and the review's own kind and apiVersion have to precede the objects. Every API server
// writes these fields before the objects. The handler begins the response to a list larger than 9 MiB while it is still
// reading the review. The webhook server has to use HTTP/2, or HTTP/1.1 as implemented by net/http.
func Handler(log logr.Logger) http.Handler {
	return &handler{log: log, small: intake.New(smallLimits), large: intake.New(largeLimits)}
}

type handler struct {
	log          logr.Logger
	small, large *intake.Pool
}

// ServeHTTP answers one review.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "send the ConversionReview with POST", http.StatusMethodNotAllowed)
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "send the ConversionReview with the content type application/json", http.StatusUnsupportedMediaType)
		return
	}
	pool := h.large
	if r.ContentLength >= 0 && r.ContentLength <= smallReview {
		pool = h.small
	}
	exchange := pool.Open(w, r)
	defer exchange.Close()
	limit := int64(wholeReview)
	if r.ContentLength > limit {
		limit = streamHead
	}
	body, whole, err := exchange.Body(r.Context(), limit)
	switch {
	case err != nil:
	case whole:
		err = h.convert(w, r, exchange, body)
	default:
		err = h.stream(w, r, exchange, body)
	}
	if err != nil {
		h.log.V(1).Info("Cannot answer a conversion request", "error", err.Error())
		exchange.Refuse(r.Context(), w, err)
	}
}

// convert converts a review that is in memory, and sends the response.
func (h *handler) convert(w http.ResponseWriter, r *http.Request, exchange *intake.Exchange, body []byte) error {
	v, err := converted(w, r, exchange, body)
	if err != nil {
		return err
	}
	exchange.Drop()
	if err := exchange.Hold(r.Context(), cap(v.answer.held)); err != nil {
		return err
	}
	h.finish(v)
	return nil
}

// converted converts a review that is in memory. Its place for work is free again before the response is sent, and
// after a panic, which does not end the server.
func converted(w http.ResponseWriter, r *http.Request, exchange *intake.Exchange, body []byte) (*review, error) {
	leave, err := exchange.Work(r.Context(), len(body))
	if err != nil {
		return nil, err
	}
	defer leave()
	v := newReview(bytes.NewBuffer(body), &answer{header: w, to: exchange}, r.Context().Err)
	v.answer.held = slices.Grow(v.answer.held, len(body))
	v.read()
	v.answer.close(v)
	return v, nil
}

// stream converts a review while it is read. `head` is its beginning.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, exchange *intake.Exchange, head []byte) error {
	leave, err := h.large.Stream(r.Context(), exchange)
	if err != nil {
		return err
	}
	defer leave()
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), exchange), readAhead)
	v := newReview(in, &answer{header: w, to: exchange, streams: true}, r.Context().Err)
	v.read()
	v.answer.close(v)
	h.finish(v)
	return nil
}

// finish sends the rest of the response.
func (h *handler) finish(v *review) {
	if v.failure != nil {
		h.log.Info("A conversion failed", "uid", v.uid, "error", v.failure.Error())
	}
	if err := v.answer.send(); err != nil {
		h.log.V(1).Info("Cannot send the response to a conversion request", "uid", v.uid, "error", err.Error())
	}
}
