package conversion

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
)

// After a request is canceled, the handler converts at most one more object.
func TestConversionEndsWithItsRequest(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	const object = `{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution","metadata":{"name":"a"}}`
	body := `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u",` +
		`"desiredAPIVersion":"llamastack.io/v1alpha2","objects":[` + object + `,` + object + `]}}`
	recorder := httptest.NewRecorder()
	v := newReview(strings.NewReader(body), &answer{header: recorder, to: recorder}, ctx.Err)
	end()
	v.read()
	if v.failure == nil || v.answer.objects != 1 {
		t.Errorf("failure %v after %d objects", v.failure, v.answer.objects)
	}
}
