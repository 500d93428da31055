package watcher

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
)

var (
	objectsMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_storage_migration_objects",
		Help: "Number of stacks in the last storage migration, by state: pending (not yet examined), migrated (stored in the storage version), " +
			"or failed.",
	}, []string{"state"})
	// completeMetric has no series until this replica runs a migration. A gauge without labels is 0 from the start, so the
	// replicas that wait for the lease would trigger an alert for a migration that is not complete.
	completeMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "llama_stack_operator_storage_migration_complete",
		Help: "Whether all stacks are stored in the storage version only: 1 if they are, 0 if not.",
	}, nil)
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
	completeMetric.WithLabelValues().Set(map[bool]float64{true: 1}[complete])
}
