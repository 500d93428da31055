package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

const (
	// maxObject bounds the size of an object in bytes. An API server accepts 3 MiB from a client, and etcd stores 1.5 MiB
	// by default. Each <, > and & in a string takes six bytes in a review.
	maxObject = 8 << 20
	// maxText bounds the length of the texts of a review itself. In a valid review, they are shorter.
	maxText = 1 << 10
	// maxDrained bounds the part of a review that the handler still reads after a failure, so that the client receives the
	// response.
	maxDrained = 1 << 30

	reviewKind = "ConversionReview"
)

var reviewVersion = apiextensionsv1.SchemeGroupVersion.String()

// lenient makes a decoder accept what encoding/json accepts.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

var (
	// errSyntax is the error for invalid JSON.
	errSyntax = errors.New("the review is not valid JSON")
	// errTooLong is the error for a value longer than the limit.
	errTooLong = errors.New("a value is too long")
)

// source is the text of a review. It returns an error if a single value takes more than maxObject bytes.
type source struct {
	io.Reader
	room int
}

func (s *source) Read(data []byte) (int, error) {
	if s.room == 0 {
		return 0, errTooLong
	}
	n, err := s.Reader.Read(data[:min(len(data), s.room)])
	s.room -= n
	return n, err
}

// review is a review that is being read.
type review struct {
	*jsontext.Decoder
	source *source
	answer *answer
	// ended returns the reason why the client no longer waits for a response, or nil.
	ended func() error

	kind, apiVersion, uid, desired string
	// requested reports whether the review has a request. listed reports whether the request has objects.
	requested, listed bool
	// failure is the first error. After an error, no object is converted.
	failure error
}

// newReview returns a review that is read from a buffer, which is not copied, or from another reader.
func newReview(in io.Reader, to *answer, ended func() error) *review {
	v := &review{source: &source{Reader: in, room: maxObject}, answer: to, ended: ended}
	if _, whole := in.(*bytes.Buffer); !whole {
		in = v.source
	}
	v.Decoder = jsontext.NewDecoder(in, lenient...)
	return v
}

// read reads the review to its end, and converts each object as soon as it is read.
func (v *review) read() {
	if err := v.parse(); err != nil {
		v.fail(err)
		_, _ = io.CopyN(io.Discard, v.source.Reader, maxDrained)
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

// parse reads the review. Its fields and those of the request take one token after the other.
func (v *review) parse() error {
	if token, err := v.ReadToken(); err != nil {
		return explained(err)
	} else if token.Kind() != '{' {
		return fmt.Errorf("%w: found a value of a different type, but an object is required", errSyntax)
	}
	for v.StackDepth() > 0 {
		v.source.room = maxObject
		token, err := v.ReadToken()
		if err == nil && token.Kind() == '"' { // the key of a field
			err = v.field(v.StackPointer())
		}
		if err != nil {
			return explained(err)
		}
	}
	if _, err := v.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is followed by unexpected data", errSyntax)
	}
	return nil
}

// field reads the value of a field. It enters the request without reading it.
func (v *review) field(place jsontext.Pointer) error {
	switch place {
	case "/kind":
		return v.readText(&v.kind)
	case "/apiVersion":
		return v.readText(&v.apiVersion)
	case "/request":
		if v.PeekKind() != '{' {
			return v.SkipValue() // null is not a request
		}
		v.requested = true
		_, err := v.ReadToken()
		return err
	case "/request/uid":
		return v.readText(&v.uid)
	case "/request/desiredAPIVersion":
		return v.readText(&v.desired)
	case "/request/objects":
		return v.objects()
	default:
		return v.SkipValue()
	}
}

func (v *review) readText(text *string) error {
	value, err := v.ReadValue()
	switch {
	case err != nil:
		return err
	case len(value) > maxText:
		return errTooLong
	case value.Kind() != '"':
		return fmt.Errorf("%w: found a value of a different type, but a string is required", errSyntax)
	default:
		return json.Unmarshal(value, text)
	}
}

// objects converts one object after the other. After an error, the rest is skipped.
func (v *review) objects() error {
	if err := v.checkBefore(); err != nil {
		v.fail(err)
	}
	v.listed = true
	kind := v.PeekKind()
	if kind != '[' && kind != 'n' {
		v.fail(errors.New("request.objects in the review is not a list"))
	}
	if kind != '[' {
		return v.SkipValue()
	}
	if v.failure == nil {
		v.answer.begin(v.uid)
	}
	_, _ = v.ReadToken()
	for i := 0; v.PeekKind() != ']'; i++ {
		v.source.room = maxObject
		if err := v.convert(i); err != nil {
			return err
		}
	}
	_, err := v.ReadToken()
	return err
}

// convert reads one object, converts it and adds it to the response. It returns an error if the review cannot be read
// any further.
func (v *review) convert(i int) error {
	if v.failure != nil {
		return v.SkipValue()
	}
	object, err := v.ReadValue()
	if err == nil && len(object) > maxObject {
		err = errTooLong
	}
	if err != nil && len(object) == 0 {
		object = bytes.TrimLeft(v.UnreadBuffer(), ", \n\t\r")
	}
	switch {
	case errors.Is(err, errTooLong):
		v.fail(fmt.Errorf("objects[%d] %s is larger than %d MiB, which is the limit for an object; make the object smaller, "+
			"or delete the object", i, nameOf(object), maxObject>>20))
		return err
	case err != nil:
		v.fail(fmt.Errorf("objects[%d] %s: %w", i, nameOf(object), explained(err)))
		return err
	}
	if err := v.answer.add(object, v.desired); err != nil {
		v.fail(fmt.Errorf("objects[%d] %s: %w", i, nameOf(object), err))
	}
	if err := v.ended(); err != nil {
		v.fail(fmt.Errorf("the request ended: %w", err))
	}
	return nil
}

// explained returns an error of the decoder for a message to the client, without names of fields, which can be long.
func explained(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, errSyntax):
		return err
	case errors.Is(err, errTooLong):
		return errTooLong
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is truncated", errSyntax)
	case errors.As(err, &syntactic):
		return fmt.Errorf("%w: %w", errSyntax, syntactic.Err)
	default:
		return fmt.Errorf("read the review: %w", err)
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
