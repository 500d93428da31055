package registry

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// question is a request for the content, or only for the digest, of one name with one set of credentials. Callers that
// have the same question at the same time share the answer.
type question struct {
	provider bool
	// digest reports whether only the digest is requested.
	digest      bool
	name        string
	credentials [sha256.Size]byte
}

// failed returns the error for an image for which there is no answer.
func (q question) failed(image string, err error) error {
	if q.digest {
		return fmt.Errorf("compare image %q: %w", image, err)
	}
	return fmt.Errorf("read image %q: %w", image, err)
}

// answer is a registry's answer to a question: the digest that the name refers to, or an error.
type answer struct {
	at     time.Time
	digest v1.Hash
	err    error
}

// ages bounds the age of an answer. Zero means that a request is always sent.
type ages struct {
	// known is the maximum age of a digest. failed is the maximum age of a failure.
	known, failed time.Duration
	// patient reports whether a failure may be used until the end of the pause that the registry requested.
	patient bool
}

// fits reports whether an answer is new enough.
func (a ages) fits(said *answer) bool {
	oldest := a.known
	if said.err != nil {
		oldest = a.failed
		if a.patient {
			oldest = max(oldest, wantedPause(said.err))
		}
	}
	return time.Since(said.at) < oldest
}

// reading is the result of a request that asks a question: an image or an error, and the time of the registry's answer.
type reading struct {
	image *Image
	err   error
	// asked is the time of the registry's answer.
	asked time.Time
}

// flight is a question whose request is in progress.
type flight struct {
	done chan struct{}
	reading
	// cut reports whether the context of the caller that sent the request ended before the answer came. The reading then
	// says nothing about the registry.
	cut bool
}

// flightKey identifies a flight. Callers for different namespaces do not share a flight, because a flight can wait for
// the share of its namespace.
type flightKey struct {
	question
	namespace string
}

type namespaceKey struct{}

// forNamespace returns a context for reads for the stacks in a namespace. Reads with another context have no namespace,
// and share what belongs to one namespace.
func forNamespace(ctx context.Context, namespace string) context.Context {
	return context.WithValue(ctx, namespaceKey{}, namespace)
}

func namespaceFrom(ctx context.Context) string {
	namespace, _ := ctx.Value(namespaceKey{}).(string)
	return namespace
}

// together calls the function `ask` once for all concurrent callers of a namespace with the same question. No caller
// waits longer than its own context, and no caller fails because the context of another caller is canceled or reaches
// its deadline.
func (r *Reader) together(ctx context.Context, of question, ask func() reading) reading {
	key := flightKey{of, namespaceFrom(ctx)}
	for {
		r.mu.Lock()
		under, ok := r.flights[key]
		if !ok {
			under = &flight{done: make(chan struct{})}
			r.flights[key] = under
			r.mu.Unlock()
			return r.fly(ctx, key, under, ask)
		}
		r.mu.Unlock()
		select {
		case <-under.done:
		case <-ctx.Done():
			return reading{err: sanitize(ctx.Err())}
		}
		if !under.cut || ctx.Err() != nil {
			return under.reading
		}
	}
}

// fly calls the function `ask` for a flight, and ends the flight, even if the function panics.
func (r *Reader) fly(ctx context.Context, key flightKey, under *flight, ask func() reading) reading {
	defer func() {
		r.mu.Lock()
		delete(r.flights, key)
		r.mu.Unlock()
		close(under.done)
	}()
	under.err = errDefect // for the other callers, if the function panics
	under.reading = ask()
	under.cut = under.err != nil && ctx.Err() != nil
	return under.reading
}
