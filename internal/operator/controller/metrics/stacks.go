package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

var (
	stacksMetric = prometheus.NewDesc("llama_stack_operator_stacks",
		"Stacks by phase and server release. The release is empty if it is unknown.",
		[]string{"phase", "release"}, nil)
	conditionMetric = prometheus.NewDesc("llama_stack_operator_stack_condition",
		"Status of each stack's conditions: 1 is True, 0 is False, -1 is Unknown.",
		[]string{"namespace", "name", "type"}, nil)
	configGenerations = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "llama_stack_operator_config_generations_total",
		Help: "Generated configurations that differ from the previous configuration, and failed attempts to generate one. " +
			"A repeated failure counts once.",
	}, []string{"result"})
	secondsToReady = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "llama_stack_operator_stack_ready_seconds",
		Help:    "Time until a stack is ready and has pods, from its first status or from the time when it stopped being ready.",
		Buckets: []float64{5, 10, 20, 40, 60, 120, 300, 600, 900, 1800, 3600},
	})
	all = &stackMetrics{states: map[types.NamespacedName]stackState{}}
)

// These are the values that the label `result` of configGenerations can have.
const (
	resultGenerated = "generated"
	resultFailed    = "failed"
)

func init() {
	metrics.Registry.MustRegister(all, configGenerations, secondsToReady)
	for _, result := range []string{resultGenerated, resultFailed} {
		configGenerations.WithLabelValues(result) // a rate needs a first sample
	}
}

// stackMetrics exports the states of the stacks after their last reconcile. It computes the values at each scrape.
type stackMetrics struct {
	mu     sync.Mutex
	states map[types.NamespacedName]stackState
}

// stackState is the exported state of one stack.
type stackState struct {
	phase, release string
	conditions     map[string]metav1.ConditionStatus
}

// Observe exports the status of a stack until Forget is called.
func Observe(stack *v1alpha2.LlamaStackDistribution) { all.observe(stack) }

// Forget removes a stack from the metrics.
func Forget(name types.NamespacedName) {
	all.forget(name)
	ObserveOtherOperator(name, false)
}

func (m *stackMetrics) observe(stack *v1alpha2.LlamaStackDistribution) {
	now := stackState{phase: string(stack.Status.Phase), conditions: map[string]metav1.ConditionStatus{}}
	if resolved := stack.Status.ResolvedDistribution; resolved != nil {
		now.release = resolved.ServerRelease
	}
	for _, condition := range stack.Status.Conditions {
		now.conditions[condition.Type] = condition.Status
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[types.NamespacedName{Namespace: stack.Namespace, Name: stack.Name}] = now
}

func (m *stackMetrics) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.states, name)
}

// Describe implements prometheus.Collector.
func (m *stackMetrics) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- stacksMetric
	descriptions <- conditionMetric
}

// Collect implements prometheus.Collector.
func (m *stackMetrics) Collect(found chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	type group struct{ phase, release string }
	counts := map[group]int{}
	for name, stack := range m.states {
		counts[group{stack.phase, stack.release}]++
		for condition, state := range stack.conditions {
			found <- prometheus.MustNewConstMetric(conditionMetric, prometheus.GaugeValue, conditionValue(state),
				name.Namespace, name.Name, condition)
		}
	}
	for of, count := range counts {
		found <- prometheus.MustNewConstMetric(stacksMetric, prometheus.GaugeValue, float64(count), of.phase, of.release)
	}
}

func conditionValue(state metav1.ConditionStatus) float64 {
	switch state {
	case metav1.ConditionTrue:
		return 1
	case metav1.ConditionFalse:
		return 0
	default:
		return -1
	}
}

// CountChange updates the counters and the histogram for the changes in the status of a stack.
func CountChange(stack *v1alpha2.LlamaStackDistribution, previous *v1alpha2.LlamaStackDistributionStatus) {
	now := &stack.Status
	if made := now.GeneratedConfigMap(); made != "" && made != previous.GeneratedConfigMap() {
		configGenerations.WithLabelValues(resultGenerated).Inc()
	}
	generated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionConfigGenerated)
	before := meta.FindStatusCondition(previous.Conditions, v1alpha2.ConditionConfigGenerated)
	if generated.Status == metav1.ConditionFalse && (before == nil || before.Reason != generated.Reason ||
		before.Message != generated.Message) {
		configGenerations.WithLabelValues(resultFailed).Inc()
	}
	ready := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionReady)
	was := meta.FindStatusCondition(previous.Conditions, v1alpha2.ConditionReady)
	became := was != nil && was.Status != metav1.ConditionTrue && ready.Status == metav1.ConditionTrue
	if became && ready.Reason != v1alpha2.ReasonScaledToZero {
		secondsToReady.Observe(ready.LastTransitionTime.Sub(was.LastTransitionTime.Time).Seconds())
	}
}
