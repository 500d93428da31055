package watcher

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migration"
)

var (
	objectsMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_storage_migration_objects",
		Help: "Stacks of the last storage migration: not looked at yet, stored in the storage version, and those that could not be.",
	}, []string{"state"})
	completeMetric = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "llama_stack_operator_storage_migration_complete",
		Help: "1 when the storage version is the only one that stacks are stored in, 0 until then.",
	})
)

func init() {
	metrics.Registry.MustRegister(objectsMetric, completeMetric)
}

func showProgress(now migration.Progress) {
	objectsMetric.WithLabelValues("pending").Set(float64(now.Pending()))
	objectsMetric.WithLabelValues("migrated").Set(float64(now.Migrated))
	objectsMetric.WithLabelValues("failed").Set(float64(now.Failed))
}

func showComplete(complete bool) {
	completeMetric.Set(map[bool]float64{true: 1}[complete])
}
