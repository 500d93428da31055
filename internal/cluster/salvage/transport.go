package salvage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

var (
	// group is the part of the path of every request for stacks.
	group = "/apis/" + v1alpha2.GroupVersion.String() + "/"
	// collection is the end of the path of a request for all stacks, in a namespace or in the cluster.
	collection = "/llamastackdistributions"
)

// Transport wraps a transport of a client of the API server. It calls `report` for each object that cannot be decoded,
// and gives the client an object that it can decode.
func Transport(report func(object, problem string)) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return transport{next, report} }
}

type transport struct {
	http.RoundTripper
	report func(object, problem string)
}

// WrappedRoundTripper returns the wrapped transport. client-go uses it to find a transport that can be closed.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

// RoundTrip sends a request, and salvages the stacks in the response while the client reads it.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.Path, group) {
		return response, err //nolint:wrapcheck // this is the error of the wrapped transport
	}
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && media == "application/json" {
		decoder := json.NewDecoder(response.Body)
		decoder.UseNumber()
		single := request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, collection)
		response.Body = &body{Decoder: decoder, close: response.Body, report: t.report, single: single}
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, nil
}

// body is a response in which each object is salvaged. It holds at most one object at a time. An answer is an object, a
// list with its objects in `items`, or a row of watch events with an object in each.
type body struct {
	*json.Decoder
	close  io.Closer
	report func(object, problem string)
	single bool // whether the whole answer is one object

	ready  bytes.Buffer
	err    error
	nested int  // the number of open objects and lists: 0 before an answer, 1 in an answer, 2 in a list of items
	first  bool // whether the next member or item is the first, or the single object has been read
}

// Close closes the original body.
func (b *body) Close() error { return b.close.Close() }

// Read reads the salvaged answer.
func (b *body) Read(into []byte) (int, error) {
	for b.ready.Len() == 0 && b.err == nil {
		b.ready.Reset()
		b.err = b.step()
	}
	if b.ready.Len() > 0 {
		return b.ready.Read(into)
	}
	return 0, b.err
}

// step reads the beginning or the end of an answer or of a list of items, or one member or item.
func (b *body) step() error {
	switch {
	case b.single:
		if b.first {
			return io.EOF
		}
		b.first = true
		return b.object()
	case b.nested == 0:
		return b.open('{')
	case !b.More():
		return b.end()
	case b.nested == 1:
		return b.member()
	default:
		b.comma()
		return b.object()
	}
}

// open reads an opening bracket. Null counts as an empty list.
func (b *body) open(want json.Delim) error {
	token, err := b.Token()
	switch {
	case err != nil:
		return err //nolint:wrapcheck // the client expects io.EOF
	case token == nil:
		b.ready.WriteString("null")
		return nil
	case token != want:
		return fmt.Errorf("the answer contains %v instead of %v", token, want)
	}
	b.nested, b.first = b.nested+1, true
	b.ready.WriteString(want.String())
	return nil
}

func (b *body) end() error {
	token, err := b.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("read the end of an answer: %w", err)
	}
	b.nested, b.first = b.nested-1, false
	fmt.Fprint(&b.ready, token)
	if b.nested == 0 {
		b.ready.WriteByte('\n')
	}
	return nil
}

func (b *body) comma() {
	if !b.first {
		b.ready.WriteByte(',')
	}
	b.first = false
}

// member reads one member of an answer.
func (b *body) member() error {
	token, err := b.Token()
	if err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	key, err := json.Marshal(token)
	if err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	b.comma()
	b.ready.Write(append(key, ':'))
	switch token {
	case "items":
		return b.open('[')
	case "object":
		return b.object()
	default:
		return b.value(func(raw []byte) []byte { return raw })
	}
}

// object reads an object, and salvages it.
func (b *body) object() error {
	return b.value(func(raw []byte) []byte {
		readable, problem := Object(raw)
		if problem != "" {
			b.report(nameOf(readable), problem)
		}
		return readable
	})
}

func (b *body) value(change func([]byte) []byte) error {
	var raw json.RawMessage
	if err := b.Decode(&raw); err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return fmt.Errorf("read an answer: %w", err)
	}
	b.ready.Write(change(raw))
	return nil
}

// nameOf returns the namespace and the name of an object.
func nameOf(object []byte) string {
	var found struct {
		Metadata struct{ Namespace, Name string }
	}
	if json.Unmarshal(object, &found) != nil {
		return ""
	}
	return found.Metadata.Namespace + "/" + found.Metadata.Name
}
