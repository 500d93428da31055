package certificate

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	caInjected = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_webhook_ca_injected",
		Help: "Whether the API server trusts the operator's webhooks as they are configured in an object: 1 it does, 0 it does not. " +
			"An object that does not exist, or does not name the operator's Service, has no series.",
	}, []string{"object"})
	certificateExpiry = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "llama_stack_operator_webhook_certificate_expiry_seconds",
		Help: "When the serving certificate of the operator's webhooks ends, in seconds since 1970; 0 while there is none.",
	})
)

func init() {
	metrics.Registry.MustRegister(caInjected, certificateExpiry)
}
