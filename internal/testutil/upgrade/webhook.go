package upgrade

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// Webhook converts stacks with package convert, over HTTPS with its own certificate.
type Webhook struct {
	// Down makes the webhook respond to every call with an error.
	Down atomic.Bool
	// Converted counts the objects that the webhook converted.
	Converted atomic.Int64

	url         string
	certificate []byte
}

// StartWebhook starts a conversion webhook that stops at the end of the test.
func StartWebhook(t testing.TB) *Webhook {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	webhook := &Webhook{certificate: certificate}
	server := httptest.NewUnstartedServer(webhook)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	webhook.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return webhook
}

// ServeHTTP answers a ConversionReview.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &review)
	}
	if err != nil || h.Down.Load() {
		http.Error(w, "the webhook is down", http.StatusServiceUnavailable)
		return
	}
	response := &apiextensionsv1.ConversionResponse{
		UID:    review.Request.UID,
		Result: metav1.Status{Status: metav1.StatusSuccess},
	}
	for _, object := range review.Request.Objects {
		converted, err := converted(object.Raw, review.Request.DesiredAPIVersion)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	h.Converted.Add(int64(len(review.Request.Objects)))
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the client may have closed the connection
}

func converted(data []byte, version string) ([]byte, error) {
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	if version == v1alpha2.GroupVersion.String() {
		return json.Marshal(convert.ToHub(object))
	}
	return json.Marshal(convert.FromHub(object))
}

// conversion returns the part of a definition that makes the API server call the webhook.
func (h *Webhook) conversion() *apiextensionsv1.CustomResourceConversion {
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &h.url, CABundle: h.certificate},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}
