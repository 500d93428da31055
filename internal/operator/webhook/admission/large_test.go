package admission

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// zeros returns a list with the given number of bytes, whose values take much more memory than its text.
func zeros(size int) string { return "[" + strings.Repeat("0,", size/2) + "0]" }

// large returns a stack with a part in its metadata, a part in its spec, and a part in its status.
func large(metadata, spec, status string) k8sruntime.RawExtension {
	return k8sruntime.RawExtension{Raw: fmt.Appendf(nil, `{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution",`+
		`"metadata":{"name":"a","namespace":"team"%s},"spec":{"distribution":{"name":"starter"}%s},"status":{%s}}`, metadata, spec, status)}
}

// The validator compares the sizes before it decodes an object, so that an object takes little more memory than its
// text.
func TestSizesBeforeDecoding(t *testing.T) {
	const size = 3 << 20
	hostile := large("", `,"settings":{"a":`+zeros(size)+`}`, "")
	for name, tc := range map[string]handleCase{
		"a large spec": {request: create(hostile), denied: "exceed the limit of 262144 for a spec"},
		"an update to a large spec": {
			request: update(object(t, good, nil), hostile),
			denied:  "exceed the limit of 262144 for a spec",
		},
		"a label on a stored large spec": {
			request: update(hostile, large(`,"labels":{"a":"b"}`, `,"settings":{"a":`+zeros(size)+`}`, "")),
			warned:  "exceed the limit of 262144 for a spec",
		},
		"a stored large spec made smaller": {request: update(hostile, object(t, good, nil))},
		"the finalizer of a large spec": {
			request: update(hostile, large(`,"deletionTimestamp":"2026-01-01T00:00:00Z"`, `,"settings":{"a":`+zeros(size)+`}`, "")),
		},
		"many managed fields": {request: create(large(`,"managedFields":`+zeros(size), "", ""))},
		"many owners":         {request: create(large(`,"ownerReferences":[`+strings.Repeat("{},", size/3)+`{}]`, "", ""))},
		"many conditions":     {request: create(large("", "", `"conditions":`+zeros(size)))},
		"many annotations": {
			request: create(large(`,"annotations":{"a":"`+strings.Repeat("x", size)+`"}`, "", "")),
			denied:  "annotations",
		},
		"not an object": {request: create(k8sruntime.RawExtension{Raw: []byte(zeros(size))}), denied: "the object has"},
	} {
		t.Run(name, func(t *testing.T) {
			validator := newValidator(t, tc.config)
			validator.Prepare(t.Context())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			validator.Handle(t.Context(), tc.request)
			runtime.ReadMemStats(&after)
			if used := int(after.TotalAlloc - before.TotalAlloc); used > 6*size {
				t.Errorf("allocated %d MiB for an object of %d MiB", used>>20, size>>20)
			}
			tc.check(t)
		})
	}
}

// A value of the wrong type in every item of a list causes a bounded number of messages.
func TestManyWrongTypes(t *testing.T) {
	many := large("", `,"workload":{"overrides":{"env":`+zeros(100_000)+`}}`, "")
	got := newValidator(t, nil).Handle(t.Context(), create(many))
	if got.Allowed || len(got.Result.Details.Causes) > 101 || !strings.HasSuffix(got.Result.Message, " more") {
		t.Errorf("%d causes: %.200s", len(got.Result.Details.Causes), got.Result.Message)
	}
}

// reviewOf returns an AdmissionReview for a request.
func reviewOf(t testing.TB, request ctrladmission.Request) string {
	t.Helper()
	review := admissionv1.AdmissionReview{Request: &request.AdmissionRequest}
	review.APIVersion, review.Kind = admissionv1.SchemeGroupVersion.String(), "AdmissionReview"
	data, err := json.Marshal(review)
	testutil.Must(t, err)
	return string(data)
}

func serve(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(Handler(&ctrladmission.Webhook{Handler: newValidator(t, nil)}))
	t.Cleanup(server.Close)
	return server
}

func TestHandler(t *testing.T) {
	server := serve(t)
	for name, c := range map[string]struct {
		review string
		code   int
		want   string
	}{
		"a good stack":          {reviewOf(t, create(object(t, good, nil))), http.StatusOK, `"allowed":true`},
		"a bad stack":           {reviewOf(t, create(object(t, bad, nil))), http.StatusOK, `"allowed":false`},
		"no review":             {"{", http.StatusOK, `"code":400`},
		"a review of 7 MB":      {reviewOf(t, create(large("", `,"settings":{"a":`+zeros(6_800_000)+`}`, ""))), http.StatusRequestEntityTooLarge, "4194304"},
		"the largest two specs": {reviewOf(t, update(stackOf(1_500_000), stackOf(1_500_001))), http.StatusOK, "exceed the limit of 262144"},
	} {
		t.Run(name, func(t *testing.T) {
			code, said := testutil.Post(t, server, strings.NewReader(c.review))
			if code != c.code || !strings.Contains(said, c.want) {
				t.Errorf("%d: %.300s", code, said)
			}
		})
	}
}

// stackOf returns a stack with a spec of about the given size.
func stackOf(size int) k8sruntime.RawExtension {
	return large("", `,"settings":{"a":"`+strings.Repeat("x", size)+`"}`, "")
}
