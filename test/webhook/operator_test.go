package webhook

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// startReplicas starts both replicas, and adds them to the Service when they are ready.
func (c *cluster) startReplicas(t testing.TB) []*operator {
	t.Helper()
	replicas := []*operator{c.StartOperator(t), c.StartOperator(t)}
	for _, o := range replicas {
		testutil.Within(t, patience, o.Ready)
	}
	c.Publish(t, replicas...)
	return replicas
}

// validates returns an error until a replica rejects an unknown distribution. It calls the replica directly, because
// the API server calls only one replica, and accepts the stack if the webhook does not respond.
func validates(o *operator) error {
	const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",` +
		`"kind":{"group":"llamastack.io","version":"v1alpha2","kind":"LlamaStackDistribution"},"object":{"apiVersion":"llamastack.io/v1alpha2",` +
		`"kind":"LlamaStackDistribution","metadata":{"name":"x","namespace":"default"},"spec":{"distribution":{"name":"startr"}}}}}`
	// The client does not verify the certificate, because the API server verifies it in its own calls.
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := insecure.Post(fmt.Sprintf("https://127.0.0.1:%d%s", o.Port, names.ValidationPath), "application/json",
		strings.NewReader(review))
	if err != nil {
		return fmt.Errorf("call a replica: %w", err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(said), `unknown distribution \"startr\"`) {
		return fmt.Errorf("the replica at port %d answers %s: %w", o.Port, said, err)
	}
	return nil
}
