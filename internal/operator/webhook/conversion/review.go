package conversion

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

const (
	// maxObject bounds the size of an object in bytes. An API server accepts 3 MiB from a client, and etcd stores 1.5 MiB
	// by default. Each <, > and & in a string takes six bytes in a review.
	maxObject = 8 << 20
	// readAhead is the size of the read buffer.
	readAhead = 32 << 10
	// maxDrained bounds the part of a review that the handler still reads after a failure, so that the client receives the
	// response.
	maxDrained = 1 << 30

	reviewKind = "ConversionReview"
)

var reviewVersion = apiextensionsv1.SchemeGroupVersion.String()

// review is a review that is being read.
type review struct {
	in     scanner
	answer *answer
	object []byte
	// buffers is the memory for the three fields above.
	buffers *buffers
	// ended returns the reason why the client no longer waits for a response, or nil.
	ended func() error

	kind, apiVersion, uid, desired string
	// requested reports whether the review has a request. listed reports whether the request has objects.
	requested, listed bool
	// failure is the first error. After an error, no object is converted.
	failure error
}

func newReview(in io.Reader, to *answer, ended func() error) *review {
	spare := takeBuffers()
	spare.in.Reset(in)
	to.held = spare.held
	return &review{in: scanner{in: spare.in}, object: spare.object, answer: to, buffers: spare, ended: ended}
}

// end ends a review. err is the error from the last write of the response. After a failure, end does not keep the
// buffers for later reviews, because the HTTP server can still read from a buffer that it could not write.
func (v *review) end(err error) {
	if err == nil && v.failure == nil {
		v.buffers.giveBack(v.object, v.answer.held)
	}
}

// read reads the review to its end, and converts each object as soon as it is read.
func (v *review) read() {
	if err := v.parse(); err != nil {
		v.fail(err)
		_, _ = io.CopyN(io.Discard, v.in.in, maxDrained)
		return
	}
	if err := v.checkKind(); err != nil {
		v.fail(err)
	} else if !v.requested {
		v.fail(errors.New("the review has no request"))
	} else if err := v.checkDesired(); err != nil {
		v.fail(err)
	}
}

// fail records the first error.
func (v *review) fail(err error) {
	if v.failure == nil {
		v.failure = err
	}
}

func (v *review) parse() error {
	err := v.in.fields(func(key string) error {
		switch key {
		case "kind":
			return v.readText(&v.kind)
		case "apiVersion":
			return v.readText(&v.apiVersion)
		case "request":
			return v.request()
		default:
			return v.in.skip()
		}
	})
	if err != nil {
		return err
	}
	if _, err := v.in.next(); err == nil {
		return fmt.Errorf("%w: it is followed by unexpected data", errSyntax)
	}
	return nil
}

func (v *review) readText(text *string) (err error) {
	*text, err = v.in.text()
	return err
}

func (v *review) request() error {
	if c, err := v.in.next(); err != nil {
		return err
	} else if c != '{' {
		return v.in.skip() // null is not a request
	}
	v.requested = true
	return v.in.fields(func(key string) error {
		switch key {
		case "uid":
			return v.readText(&v.uid)
		case "desiredAPIVersion":
			return v.readText(&v.desired)
		case "objects":
			return v.objects()
		default:
			return v.in.skip()
		}
	})
}

// objects converts one object after the other. After an error, the rest is skipped.
func (v *review) objects() error {
	if err := v.checkBefore(); err != nil {
		v.fail(err)
	}
	v.listed = true
	c, err := v.in.next()
	if err != nil {
		return err
	}
	if c != '[' && c != 'n' {
		v.fail(errors.New("request.objects in the review is not a list"))
	}
	if c == 'n' || v.failure != nil {
		return v.in.skip()
	}
	v.answer.begin(v.uid)
	return v.in.items('[', ']', v.convert)
}

// convert reads one object, converts it and adds it to the response. It returns an error if the review cannot be read
// any further.
func (v *review) convert(i int) error {
	if v.failure != nil {
		return v.in.skip()
	}
	var err error
	v.object, err = v.in.value(v.object[:0], maxObject)
	switch {
	case errors.Is(err, errTooLong):
		v.fail(fmt.Errorf("objects[%d] %s is larger than %d MiB, which is the limit for an object; make the object smaller, "+
			"or delete the object",
			i, nameOf(v.object), maxObject>>20))
		return nil
	case err != nil:
		return fmt.Errorf("objects[%d] %s: %w", i, nameOf(v.object), err)
	}
	if err := v.answer.add(v.object, v.desired); err != nil {
		v.fail(fmt.Errorf("objects[%d] %s: %w", i, nameOf(v.object), err))
	}
	v.failIfEnded()
	return nil
}

// failIfEnded records an error if the client no longer waits for the response.
func (v *review) failIfEnded() {
	if err := v.ended(); err != nil {
		v.fail(fmt.Errorf("the request ended: %w", err))
	}
}

// checkBefore rejects a review that contains the list of objects twice, or in which this list precedes the fields on
// which the objects depend. It also checks the kind and the desired version of the review.
func (v *review) checkBefore() error {
	if v.listed {
		return errors.New("the review contains request.objects twice")
	}
	if v.kind == "" || v.apiVersion == "" || v.uid == "" || v.desired == "" {
		return errors.New("kind, apiVersion, request.uid and request.desiredAPIVersion must precede request.objects in a " +
			"review; send the fields in the order in which the API server writes them")
	}
	if err := v.checkKind(); err != nil {
		return err
	}
	return v.checkDesired()
}

func (v *review) checkKind() error {
	if v.kind != reviewKind || !strings.HasPrefix(v.apiVersion, apiextensionsv1.GroupName+"/") {
		return fmt.Errorf("kind %q of apiVersion %q is not supported; send a %s of apiVersion %q", v.kind, v.apiVersion, reviewKind, reviewVersion)
	}
	if v.apiVersion != reviewVersion {
		return fmt.Errorf("a review with version %q is not supported; set spec.conversion.webhook.conversionReviewVersions "+
			"of the CustomResourceDefinition to [%q]", v.apiVersion, apiextensionsv1.SchemeGroupVersion.Version)
	}
	return nil
}

func (v *review) checkDesired() error {
	if !slices.Contains(convert.Versions, v.desired) {
		return fmt.Errorf("unknown request.desiredAPIVersion %q; request one of the versions "+
			"%q", v.desired, convert.Versions)
	}
	return nil
}
