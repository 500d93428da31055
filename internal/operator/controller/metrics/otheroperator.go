package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var otherOperator = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "llama_stack_operator_other_operator",
	Help: "1 for a stack that this operator does not change because another operator manages it.",
}, []string{"namespace", "name"})

func init() {
	metrics.Registry.MustRegister(otherOperator)
}

// ObserveOtherOperator records whether another operator manages a stack.
func ObserveOtherOperator(stack types.NamespacedName, acts bool) {
	if acts {
		otherOperator.WithLabelValues(stack.Namespace, stack.Name).Set(1)
		return
	}
	otherOperator.DeleteLabelValues(stack.Namespace, stack.Name)
}
