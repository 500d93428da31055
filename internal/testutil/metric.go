package testutil

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metric returns the samples of one of the operator's metrics. Their keys are the values of their labels, in the order
// of the names of the labels. The value of a histogram is the number of observations.
func Metric(t testing.TB, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	Must(t, err)
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "llama_stack_operator_"+name {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			found[strings.Join(labels, " ")] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return found
}
