package certificate_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	// The import registers the metrics.
	_ "github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/certificate"
)

// atStart contains the metrics of a replica that has not published a certificate.
var atStart, errAtStart = metrics.Registry.Gather()

// TestMetricsWithoutCertificate checks that an operator without its own certificate does not report an expiry time.
func TestMetricsWithoutCertificate(t *testing.T) {
	if errAtStart != nil {
		t.Fatal(errAtStart)
	}
	for _, family := range atStart {
		if name := family.GetName(); name == "llama_stack_operator_webhook_certificate_expiry_seconds" {
			t.Errorf("%s has the value %v", name, family.GetMetric())
		}
	}
}
