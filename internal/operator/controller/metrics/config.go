package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// configErrors has a sample for every known key, so that an alert on this metric does not need absent().
var configErrors = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "llama_stack_operator_config_errors",
	Help: "Errors in the operator's ConfigMap, by key. A key with errors keeps its last valid value, if there is one.",
}, []string{"key"})

func init() {
	metrics.Registry.MustRegister(configErrors)
}

// SetConfigErrors sets the metric to the current errors in the operator's ConfigMap.
func SetConfigErrors(errs field.ErrorList) {
	configErrors.Reset()
	for _, key := range operatorconfig.Keys() {
		configErrors.WithLabelValues(key).Set(0)
	}
	for _, err := range errs {
		configErrors.WithLabelValues(operatorconfig.KeyOf(err)).Inc()
	}
}
