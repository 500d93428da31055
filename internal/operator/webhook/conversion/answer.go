package conversion

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// sendEvery is the number of bytes that are buffered before they are sent, if the response begins while the review is
// still being read.
const sendEvery = 1 << 20

// answer is the review in the response. It buffers the response, so that it can discard the objects after a failure. If
// it streams, it sends a longer response in parts of about sendEvery bytes.
type answer struct {
	header  http.ResponseWriter
	to      io.Writer
	streams bool
	held    []byte
	// code is the status code. Zero means 200.
	code int
	// objects is the number of objects. sent reports whether the beginning was sent.
	objects int
	sent    bool
}

// begin writes the part before the objects.
func (a *answer) begin(uid string) {
	a.held = fmt.Appendf(a.held, `{"kind":%q,"apiVersion":%q,"response":{"uid":%s,"convertedObjects":[`,
		reviewKind, reviewVersion, encoded(uid))
}

// add writes one object in a different version.
func (a *answer) add(object []byte, version string) error {
	before := len(a.held)
	if a.objects > 0 {
		a.held = append(a.held, ',')
	}
	held, err := convert.AppendJSON(a.held, object, version)
	if err != nil {
		a.held = a.held[:before]
		return err
	}
	a.held = held
	a.objects++
	if a.streams && len(a.held) > sendEvery {
		return a.send()
	}
	return nil
}

// send writes the buffered part, even before the whole request has been read.
func (a *answer) send() error {
	if !a.sent {
		if a.streams {
			if err := http.NewResponseController(a.header).EnableFullDuplex(); err != nil {
				return fmt.Errorf("the webhook server cannot send the response to a large review: %w", err)
			}
		}
		a.header.Header().Set("Content-Type", "application/json")
		a.header.WriteHeader(cmp.Or(a.code, http.StatusOK))
		a.sent = true
	}
	_, err := a.to.Write(a.held)
	a.held = a.held[:0]
	return err
}

// close writes the result of the conversion into the buffer. After a failure, it discards all objects, unless the
// beginning of the response was already sent.
func (a *answer) close(v *review) {
	if !a.sent && (v.failure != nil || len(a.held) == 0) {
		a.held = whole(v)
		if v.kind != reviewKind || !strings.HasPrefix(v.apiVersion, apiextensionsv1.GroupName+"/") {
			a.code = http.StatusBadRequest
		}
	} else {
		a.held = fmt.Appendf(a.held, `],"result":%s}}`, encoded(result(v.failure)))
	}
	if !a.sent {
		a.header.Header().Set("Content-Length", strconv.Itoa(len(a.held)))
	}
}

// whole returns a response without objects.
func whole(v *review) []byte {
	version := v.apiVersion
	if !strings.HasPrefix(version, apiextensionsv1.GroupName+"/") {
		version = reviewVersion
	}
	return encoded(map[string]any{
		"kind": reviewKind, "apiVersion": version,
		"response": map[string]any{"uid": v.uid, "convertedObjects": []any{}, "result": result(v.failure)},
	})
}

func result(failure error) metav1.Status {
	if failure == nil {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	return metav1.Status{Status: metav1.StatusFailure, Message: failure.Error()}
}

// encoded returns a value as JSON.
func encoded(value any) []byte {
	data, _ := json.Marshal(value) // strings and numbers can always be encoded
	return data
}
