package faults_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// webhooks lists the faults in a user's webhook for Deployments.
var webhooks = []fault{
	{name: "another webhook denies the Deployment", strikes: []strike{webhook(http.StatusForbidden)}, spec: changed},
	{name: "another webhook denies the Deployment with the status code for a conflict (409)", slow: true, strikes: []strike{webhook(http.StatusConflict)}, spec: changed},
	{name: "another webhook breaks its connections", slow: true, strikes: []strike{webhook(broken)}, spec: changed},
	{name: "another webhook does not answer", slow: true, strikes: []strike{webhook(hanging)}, spec: changed},
}

const (
	// broken and hanging are special values in place of the status code in a webhook's response. With the value zero, the
	// webhook allows every request.
	broken, hanging = -1, -2
	webhookName     = "holidays.example.com"
	webhookSays     = "no changes before the holidays"
)

// webhook returns a strike that registers a webhook for Deployments, and waits until the API server rejects changes to
// the Deployment. The webhook responds with the code in the parameter answer. The function that the strike returns
// waits until the stack reports the webhook, and then ends the fault.
func webhook(answer int32) strike {
	return func(t *testing.T, _ *theatre, s *stage) func() {
		t.Helper()
		says, remedy := fmt.Sprintf("admission webhook %q denied the request: %s", webhookName, webhookSays), ""
		if answer < 0 {
			says, remedy = fmt.Sprintf("failed calling webhook %q", webhookName), "make the webhook available"
		}
		w := startWebhook(t)
		w.answer.Store(answer)
		s.create(t, w.configuration(s.namespace))
		s.refusesDeployment(t, says)
		before := s.pods(t)
		return func() {
			eventually(t, "the stack reports the webhook", func() error {
				return s.reports(t, fmt.Sprintf("apply Deployment %q: ", stackName), says, remedy)
			})
			if diff := cmp.Diff(before, s.pods(t)); diff != "" {
				t.Errorf("the pods changed while the webhook rejects changes (-want +got):\n%s", diff)
			}
			w.answer.Store(0)
		}
	}
}

// otherWebhook is a user's admission webhook.
type otherWebhook struct {
	server      *httptest.Server
	certificate []byte
	answer      atomic.Int32
}

func startWebhook(t *testing.T) *otherWebhook {
	t.Helper()
	w := &otherWebhook{}
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	w.certificate = certificate
	w.server = httptest.NewUnstartedServer(w)
	w.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	pair, err := tls.X509KeyPair(certificate, key)
	testutil.Must(t, err)
	w.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	w.server.StartTLS()
	t.Cleanup(func() { w.server.CloseClientConnections(); w.server.Close() })
	return w
}

// ServeHTTP responds to a request from the API server.
func (w *otherWebhook) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	answer := w.answer.Load()
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil || review.Request == nil || answer == broken {
		panic(http.ErrAbortHandler)
	}
	if answer == hanging {
		<-r.Context().Done()
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: answer == 0}
	if answer > 0 {
		review.Response.Result = &metav1.Status{Code: answer, Message: webhookSays}
	}
	review.Request = nil
	_ = json.NewEncoder(to).Encode(review) // the client may have closed the connection
}

func (w *otherWebhook) configuration(namespace string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	url := strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1)
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    webhookName,
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: w.certificate},
			Rules:                   []admissionregistrationv1.RuleWithOperations{changesOfDeployments()},
			NamespaceSelector:       namespaceSelector(namespace),
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(2)),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
