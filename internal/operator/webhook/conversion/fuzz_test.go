package conversion_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// FuzzHandler checks that the answer to any request is a review. If encoding/json can also read the review, a
// successful answer contains every object of the review, converted and with the same name.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{
		"", "{", "null", reviewOf(v2), reviewOf(v2, older("a"), newer("b")), reviewOf(v1, older("a"), newer("b")),
		reviewOf(v2, "7"),
		strings.ReplaceAll(reviewOf(v2, older("a")), "{", " {\n"), strings.Replace(reviewOf(v2), "[]", "null", 1),
		`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"objects":[],"uid":"a"},"x":[{"y":"\""}]}`,
	} {
		f.Add([]byte(body))
	}
	handler := conversion.Handler(logr.Discard())
	f.Fuzz(func(t *testing.T, data []byte) {
		request := httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(string(data)))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		var got apiextensionsv1.ConversionReview
		if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil || got.Response == nil {
			t.Fatalf("the answer is not a review: %v: %q", err, recorder.Body)
		}
		switch result := got.Response.Result; result.Status {
		case metav1.StatusFailure:
			if result.Message == "" || len(got.Response.ConvertedObjects) > 0 {
				t.Errorf("a failure with %d objects: %q", len(got.Response.ConvertedObjects), result.Message)
			}
		case metav1.StatusSuccess:
			compareObjects(t, data, got)
		default:
			t.Errorf("the result is %q", result.Status)
		}
	})
}

// compareObjects checks the answer as an API server does.
func compareObjects(t *testing.T, data []byte, got apiextensionsv1.ConversionReview) {
	t.Helper()
	var sent apiextensionsv1.ConversionReview
	if err := json.Unmarshal(data, &sent); err != nil || sent.Request == nil {
		return // a value that the handler does not read can have content that encoding/json rejects
	}
	if got.Response.UID != sent.Request.UID || len(got.Response.ConvertedObjects) != len(sent.Request.Objects) {
		t.Fatalf("uid %q with %d objects for uid %q with %d", got.Response.UID, len(got.Response.ConvertedObjects), sent.Request.UID,
			len(sent.Request.Objects))
	}
	for i, object := range sent.Request.Objects {
		var before, after struct {
			Kind, APIVersion string
			Metadata         map[string]any
		}
		if json.Unmarshal(object.Raw, &before) != nil {
			continue
		}
		testutil.Must(t, json.Unmarshal(got.Response.ConvertedObjects[i].Raw, &after))
		if after.APIVersion != sent.Request.DesiredAPIVersion || after.Kind != before.Kind {
			t.Errorf("a %s of %s", after.Kind, after.APIVersion)
		}
		for _, key := range []string{"name", "namespace", "uid"} {
			if before.Metadata[key] == nil != (after.Metadata[key] == nil) {
				t.Errorf("%s was %v, is %v", key, before.Metadata[key], after.Metadata[key])
			}
			if text, ok := before.Metadata[key].(string); ok && after.Metadata[key] != text {
				t.Errorf("%s was %q, is %v", key, text, after.Metadata[key])
			}
		}
	}
}
