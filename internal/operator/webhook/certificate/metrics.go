package certificate

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	caInjected = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_webhook_ca_injected",
		Help: "Whether the API server trusts the operator's webhooks that an object configures: 1 if the API " +
			"server trusts them, 0 if not. An object that does not exist or does not refer to the operator's Service has no series.",
	}, []string{"object"})
	// certificateExpiry has no series until this replica publishes a certificate. A gauge without labels is 0 from the
	// start, so an operator with a certificate in a directory would trigger an alert for an expired certificate.
	certificateExpiry = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_webhook_certificate_expiry_seconds",
		Help: "Expiry time of the certificate that the operator creates for its webhooks, in seconds since 1970.",
	}, nil)
)

func init() {
	metrics.Registry.MustRegister(caInjected, certificateExpiry)
}
