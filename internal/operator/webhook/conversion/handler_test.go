package conversion_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	v1 = "llamastack.io/v1alpha1"
	v2 = "llamastack.io/v1alpha2"
)

// older and newer return objects of the two versions.
func older(name string) string {
	return `{"apiVersion":"` + v1 + `","kind":"LlamaStackDistribution","metadata":{"name":"` + name +
		`","namespace":"team-a","uid":"uid-` + name + `"},"spec":{"replicas":1,"server":{"distribution":{"name":"starter"}}}}`
}

func newer(name string) string {
	return `{"apiVersion":"` + v2 + `","kind":"LlamaStackDistribution","metadata":{"name":"` + name +
		`","namespace":"team-a","uid":"uid-` + name + `"},"spec":{"distribution":{"name":"starter","version":"0.7"}}}`
}

// reviewOf returns a review as an API server writes it.
func reviewOf(desired string, objects ...string) string {
	return `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u-1","desiredAPIVersion":"` + desired +
		`","objects":[` + strings.Join(objects, ",") + `]}}` + "\n"
}

func serve(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(conversion.Handler(logr.Discard()))
	t.Cleanup(server.Close)
	return server
}

// answered is a decoded response with its status code.
type answered struct {
	apiextensionsv1.ConversionReview
	code int
}

func post(t testing.TB, server *httptest.Server, body io.Reader) answered {
	t.Helper()
	code, data := testutil.Post(t, server, body)
	got := answered{code: code}
	if err := json.Unmarshal([]byte(data), &got.ConversionReview); err != nil || got.Response == nil {
		t.Fatalf("the answer is not a review: %v: %.300s", err, data)
	}
	if got.Kind != "ConversionReview" {
		t.Errorf("kind of the answer is %q", got.Kind)
	}
	return got
}

// The handler returns every object in the requested version, in the same order and with the same name.
func TestConverts(t *testing.T) {
	server := serve(t)
	for _, desired := range []string{v1, v2} {
		same := older("same")
		if desired == v2 {
			same = newer("same")
		}
		got := post(t, server, strings.NewReader(reviewOf(desired, older("a"), " "+newer("b")+"\n", same)))
		if got.code != http.StatusOK || got.Response.Result.Status != metav1.StatusSuccess || got.Response.UID != "u-1" ||
			got.APIVersion != "apiextensions.k8s.io/v1" {
			t.Fatalf("to %s: code %d, %+v", desired, got.code, got.Response.Result)
		}
		var names []string
		for _, object := range got.Response.ConvertedObjects {
			var meta metav1.PartialObjectMetadata
			testutil.Must(t, json.Unmarshal(object.Raw, &meta))
			names = append(names, fmt.Sprintf("%s %s %s/%s %s", meta.APIVersion, meta.Kind, meta.Namespace, meta.Name, meta.UID))
		}
		const form = "%s LlamaStackDistribution team-a/%s uid-%s"
		want := []string{
			fmt.Sprintf(form, desired, "a", "a"), fmt.Sprintf(form, desired, "b", "b"),
			fmt.Sprintf(form, desired, "same", "same"),
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("to %s (-want +got):\n%s", desired, diff)
		}
		if got := string(got.Response.ConvertedObjects[2].Raw); got != same {
			t.Errorf("an object in the requested version was returned as %s", got)
		}
	}
}

// Concurrent reviews do not affect one another.
func TestConcurrentReviews(t *testing.T) {
	server := serve(t)
	for client := range 4 {
		t.Run(strconv.Itoa(client), func(t *testing.T) {
			t.Parallel()
			for i := range 20 {
				name := strings.Repeat(string(rune('a'+client)), 1+i*i)
				got := post(t, server, strings.NewReader(reviewOf(v2, older(name), older("x"), older(name))))
				for k, want := range []string{name, "x", name} {
					var meta metav1.PartialObjectMetadata
					if err := json.Unmarshal(got.Response.ConvertedObjects[k].Raw, &meta); err != nil || meta.Name != want {
						t.Errorf("%q was returned as %q: %v", want, meta.Name, err)
					}
				}
			}
		})
	}
}

func TestNothingToConvert(t *testing.T) {
	server := serve(t)
	for name, body := range map[string]string{
		"no objects":  reviewOf(v2),
		"null":        strings.Replace(reviewOf(v2), "[]", "null", 1),
		"no list":     strings.Replace(reviewOf(v2), `,"objects":[]`, "", 1),
		"with spaces": strings.Replace(reviewOf(v2), "[]", " [ \n ] ", 1),
		"more fields": strings.Replace(reviewOf(v2), `"uid"`, `"new":{"a":[1,"}"]},"uid"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, server, strings.NewReader(body))
			if got.code != http.StatusOK || got.Response.Result.Status != metav1.StatusSuccess ||
				len(got.Response.ConvertedObjects) != 0 ||
				got.Response.UID != "u-1" {
				t.Errorf("code %d, %+v", got.code, got.Response)
			}
		})
	}
}

// The response to an invalid request is a review that states the problem and, if the problem is in one object, names
// that object.
func TestBadInput(t *testing.T) {
	server := serve(t)
	swap := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	for name, c := range map[string]struct {
		body string
		code int
		want string
	}{
		"nothing":                    {"", 400, "it is truncated"},
		"garbage":                    {"\x00\xff{{{", 400, `the review is not valid JSON: invalid character '\x00' at start of value`},
		"a list":                     {"[]", 400, "not valid JSON"},
		"not a review":               {`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}}`, 400, `kind "AdmissionReview" of apiVersion "admission.k8s.io/v1" is not supported; send a ConversionReview`},
		"an empty object":            {`{}`, 400, "send a ConversionReview"},
		"v1beta1":                    {swap(reviewOf(v2, older("a")), "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"), 200, `conversionReviewVersions of the CustomResourceDefinition to ["v1"]`},
		"no request":                 {`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}`, 200, "has no request"},
		"null for a request":         {`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":null}`, 200, "has no request"},
		"unknown desired":            {reviewOf("llamastack.io/v1", older("a")), 200, `unknown request.desiredAPIVersion "llamastack.io/v1"`},
		"no desired version":         {swap(reviewOf(v2, older("a")), `"desiredAPIVersion":"`+v2+`",`, ""), 200, "must precede request.objects"},
		"the uid comes later":        {swap(reviewOf(v2, older("a")), `"uid":"u-1",`, "", "]}}", `],"uid":"u-1"}}`), 200, "must precede request.objects"},
		"the kind comes later":       {swap(reviewOf(v2, older("a")), `"kind":"ConversionReview",`, "", "]}}", `]},"kind":"ConversionReview"}`), 200, "must precede request.objects"},
		"objects are not a list":     {swap(reviewOf(v2), "[]", "{}"), 200, "request.objects in the review is not a list"},
		"objects twice":              {swap(reviewOf(v2, older("a")), "]}}", `],"objects":[]}}`), 200, "request.objects twice"},
		"data after the review":      {reviewOf(v2, older("a")) + "{}", 200, "it is followed by unexpected data"},
		"truncated":                  {reviewOf(v2, older("a"), older("b"))[:500], 200, `objects[1] "team-a/b": the review is not valid JSON: it is truncated`},
		"truncated in a text":        {reviewOf(v2, older("a"))[:140], 200, "it is truncated"},
		"no commas":                  {reviewOf(v2, older("a")+older("b")), 200, `objects[1] "team-a/b": the review is not valid JSON: invalid character '{' after array element (expecting ',' or ']')`},
		"one comma too many":         {reviewOf(v2, older("a"), ""), 200, "invalid character ',' at start of value"},
		"another kind":               {reviewOf(v2, older("a"), swap(older("b"), "LlamaStackDistribution", "Pod")), 200, `objects[1] "team-a/b": kind "Pod" cannot be converted`},
		"another group":              {reviewOf(v2, swap(older("a"), "llamastack.io", "example.com")), 200, `objects[0] "team-a/a": unknown apiVersion "example.com/v1alpha1"`},
		"another version":            {reviewOf(v2, newer("ok"), swap(older("a"), "v1alpha1", "v1")), 200, `objects[1] "team-a/a": unknown apiVersion "llamastack.io/v1"`},
		"a version that is a number": {reviewOf(v2, swap(older("a"), `"`+v1+`"`, "7")), 200, `objects[0] "team-a/a": unknown apiVersion 7`},
		"no metadata":                {reviewOf(v2, `{"apiVersion":"`+v1+`","kind":"LlamaStackDistribution","spec":{}}`), 200, "objects[0] (without a name): metadata is missing"},
		"metadata is a list":         {reviewOf(v2, `{"apiVersion":"`+v1+`","kind":"LlamaStackDistribution","metadata":[]}`), 200, "metadata is missing or not an object"},
		"an object is a number":      {reviewOf(v2, "7"), 200, "objects[0] (no object): it is not a JSON object"},
		"an object is null":          {reviewOf(v2, "null"), 200, "not a JSON object"},
		"an object is not JSON":      {reviewOf(v2, swap(older("a"), `"replicas":1`, `"replicas":1]`, `}}}}`, `}}]`)), 200, `objects[0] "team-a/a": the review is not valid JSON: invalid character ']' after object value (expecting ',' or '}')`},
		"deeper than any JSON":       {reviewOf(v2, swap(older("a"), `"replicas":1`, `"replicas":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000))), 200, `objects[0] "team-a/a": the review is not valid JSON: exceeded max depth`},
		"too large":                  {reviewOf(v2, older("ok"), swap(older("a"), `"replicas":1`, `"replicas":"`+strings.Repeat("x", 9<<20)+`"`)), 200, `objects[1] "team-a/a" is larger than 8 MiB`},
		"a long uid":                 {swap(reviewOf(v2), "u-1", strings.Repeat("u", 5000)), 200, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, server, strings.NewReader(c.body))
			if got.code != c.code || got.Response.Result.Status != metav1.StatusFailure ||
				!strings.Contains(got.Response.Result.Message, c.want) {
				t.Errorf("code %d, %s: %q; want code %d and %q", got.code, got.Response.Result.Status, got.Response.Result.Message,
					c.code, c.want)
			}
			if len(got.Response.ConvertedObjects) != 0 {
				t.Errorf("%d objects with a failure", len(got.Response.ConvertedObjects))
			}
			if strings.Contains(c.body, `"uid":"u-1"`) && !strings.HasPrefix(name, "truncated") && got.Response.UID != "u-1" {
				t.Errorf("uid is %q", got.Response.UID)
			}
		})
	}
}

// Stored objects may have errors, which validation reports. These errors must not cause a conversion to fail, because
// the request for the whole list then fails.
func TestOddObjectsAreConverted(t *testing.T) {
	server := serve(t)
	for name, object := range map[string]string{
		"no spec":                  `"metadata":{"name":"a"}`,
		"a spec that is text":      `"metadata":{"name":"a"},"spec":"x"`,
		"lists instead of objects": `"metadata":{"name":"a","annotations":[]},"spec":{"server":[],"network":[{}],"workload":7,"providers":[1]}`,
		"nulls":                    `"metadata":{"name":"a","annotations":null},"spec":{"server":null,"workload":null},"status":null`,
		"numbers instead of text":  `"metadata":{"name":"a","annotations":{"llamastack.io/conversion-data":7}},"spec":{"server":{"distribution":{"name":7}}}`,
		"no name":                  `"metadata":{"generateName":"a-"},"spec":{}`,
		"odd texts":                `"metadata":{"name":"a"},"spec":{"server":{"distribution":{"name":"\ud800\u0000\u2028<"}}}`,
		"a duplicate key":          `"metadata":{"name":"a"},"spec":{"server":{},"server":{"workers":2}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, way := range [][2]string{{v1, v2}, {v2, v1}} {
				body := reviewOf(way[1], `{"apiVersion":"`+way[0]+`","kind":"LlamaStackDistribution",`+object+`}`)
				got := post(t, server, strings.NewReader(body))
				if got.Response.Result.Status != metav1.StatusSuccess || len(got.Response.ConvertedObjects) != 1 {
					t.Errorf("to %s: %+v", way[1], got.Response.Result)
				}
			}
		})
	}
}

func TestOtherRequests(t *testing.T) {
	server := serve(t)
	for name, c := range map[string]struct {
		method, media string
		want          int
	}{
		"GET":           {http.MethodGet, "application/json", http.StatusMethodNotAllowed},
		"YAML":          {http.MethodPost, "application/yaml", http.StatusUnsupportedMediaType},
		"no media type": {http.MethodPost, "", http.StatusUnsupportedMediaType},
		"with charset":  {http.MethodPost, "application/json; charset=utf-8", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL, bytes.NewReader([]byte(reviewOf(v2))))
			testutil.Must(t, err)
			request.Header.Set("Content-Type", c.media)
			response, err := server.Client().Do(request)
			testutil.Must(t, err)
			_ = response.Body.Close()
			if response.StatusCode != c.want {
				t.Errorf("code %d, want %d", response.StatusCode, c.want)
			}
		})
	}
}

// defective is a context that panics when the handler asks whether the client still waits.
type defective struct{ context.Context }

func (defective) Err() error { panic("a defect") }

// TestPlacesAfterPanics checks that a panic, which net/http survives, takes no place for work from later requests.
func TestPlacesAfterPanics(t *testing.T) {
	handler := conversion.Handler(logr.Discard())
	serve := func(ctx context.Context) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(reviewOf(v2, older("a"))))
		request.Header.Set("Content-Type", "application/json")
		if err := share.Recovered(func() { handler.ServeHTTP(recorder, request) }); err != nil {
			recorder.Code = http.StatusInternalServerError
		}
		return recorder
	}
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	broken := defective{soon()}
	for range 200 { // there are 128 places for the smallest reviews
		if got := serve(broken).Code; got != http.StatusInternalServerError {
			t.Fatalf("status %d, want a panic", got)
		}
	}
	if got := serve(soon()); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), v2) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
