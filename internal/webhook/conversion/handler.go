package conversion

import (
	"context"
	"mime"
	"net/http"

	"github.com/go-logr/logr"
)

const (
	// smallReview is the maximum number of bytes of a response that are buffered before they are sent to the API server.
	// If the whole response fits into the buffer, the handler reads the whole review before it responds, so a failure
	// discards all objects in the response. smallReview also bounds the size of a small review.
	smallReview = 1 << 20
	// smallReviews and largeReviews bound the number of concurrent reviews. Other reviews wait. Two large reviews take
	// 64 MiB if their objects have the maximum size.
	smallReviews = 16
	largeReviews = 2
)

// Handler serves ConversionReviews of apiextensions.k8s.io/v1 for LlamaStackDistributions.
//
// Every response to a POST request with JSON is a ConversionReview. A failed conversion has the result Failure, with a
// message that names the object. The status code of such a response is still 200, because an API server does not show
// the message in a response with a different code. The status code is 400 for a request that is not a review, 405 for a
// method other than POST, and 415 for a media type other than JSON.
//
// The uid, the desiredAPIVersion and the review's own kind and apiVersion have to precede the objects. Every API server
// writes these fields before the objects. The handler begins a response larger than a mebibyte while it is still
// reading the review. The webhook server has to use HTTP/2, or HTTP/1.1 as implemented by net/http.
func Handler(log logr.Logger) http.Handler {
	return &handler{
		log: log, small: make(chan struct{}, smallReviews), large: make(chan struct{}, largeReviews),
	}
}

type handler struct {
	log          logr.Logger
	small, large chan struct{}
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
	leave, err := h.enter(r)
	if err != nil {
		return // the client no longer waits
	}
	defer leave()
	v := newReview(w, r)
	v.read()
	if v.failure != nil {
		h.log.Info("A conversion failed", "uid", v.uid, "error", v.failure.Error())
	}
	err = v.answer.finish(v)
	v.end(err)
	if err != nil {
		h.log.V(1).Info("Cannot send the response to a conversion request", "uid", v.uid, "error", err.Error())
	}
}

// enter waits for a free slot for a review of this size.
func (h *handler) enter(r *http.Request) (leave func(), err error) {
	slots := h.large
	if r.ContentLength >= 0 && r.ContentLength <= smallReview {
		slots = h.small
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}
