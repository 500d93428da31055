package conversion

import (
	"context"
	"mime"
	"net/http"

	"github.com/go-logr/logr"
)

const (
	// smallReview is how many bytes of a review are held in memory at most before they go to the API server: an ordinary
	// review is read whole before it is answered, and fails as a whole. It also bounds what is an ordinary one.
	smallReview = 1 << 20
	// smallReviews and largeReviews are how many reviews are worked on at once. Others wait. Two large ones take 64 MiB
	// when their objects are as large as they may be.
	smallReviews = 16
	largeReviews = 2
)

// Handler serves ConversionReviews of apiextensions.k8s.io/v1 for LlamaStackDistributions.
//
// Every answer is a ConversionReview. What cannot be converted has the result Failure, with a message that names the
// object; the status code is 200 all the same, for an API server shows nothing of another answer's message. It is 400
// for what is no review, 405 for another method than POST and 415 for another media type than JSON.
//
// The uid, the desiredAPIVersion and the review's own kind and apiVersion have to come before the objects, as every API
// server writes them. A review that is larger than a mebibyte is answered while it is still read; the server has to
// speak HTTP/2, or HTTP/1.1 as net/http does.
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
		http.Error(w, "send a ConversionReview with POST", http.StatusMethodNotAllowed)
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "send a ConversionReview as application/json", http.StatusUnsupportedMediaType)
		return
	}
	leave, err := h.enter(r)
	if err != nil {
		return // nobody waits for an answer any more
	}
	defer leave()
	v := newReview(w, r)
	v.read()
	if v.failure != nil {
		h.log.Info("a conversion failed", "uid", v.uid, "error", v.failure.Error())
	}
	err = v.answer.finish(v)
	v.end(err)
	if err != nil {
		h.log.V(1).Info("the answer to a conversion did not arrive", "uid", v.uid, "error", err.Error())
	}
}

// enter waits until a review of this size may be worked on.
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
