package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// A stack has series of its own only within these limits, so that a tenant with many stacks does not flood a monitoring
// system. The metric of stacks by phase counts every stack.
const (
	maxListed            = 2_000
	maxListedOfNamespace = 100
)

var (
	stacksMetric = prometheus.NewDesc("llama_stack_operator_stacks",
		"Stacks by phase and server release. The release is empty if it is unknown.",
		[]string{"phase", "release"}, nil)
	unlistedMetric = prometheus.NewDesc("llama_stack_operator_stacks_without_series",
		"Stacks that exceed the limits for metrics of single stacks.", nil, nil)
	conditionMetric = prometheus.NewDesc("llama_stack_operator_stack_condition",
		"Status of each stack's conditions: 1 is True, 0 is False, -1 is Unknown.",
		[]string{"namespace", "name", "type", "reason"}, nil)
	certificateMetric = prometheus.NewDesc("llama_stack_operator_stack_certificate_expiry_seconds",
		"Time when the first certificate that a stack serves or sends expires, in seconds since 1970.",
		[]string{"namespace", "name"}, nil)
	otherOperatorMetric = prometheus.NewDesc("llama_stack_operator_other_operator",
		"1 for a stack that this operator does not change because another operator manages it.",
		[]string{"namespace", "name"}, nil)
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
	all = newStackMetrics()
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
	states map[types.NamespacedName]*stackState
	// listed counts the stacks with series of their own by namespace, and total counts all of them.
	listed map[string]int
	total  int
}

// stackState is the exported state of one stack.
type stackState struct {
	phase, release string
	conditions     []metav1.Condition // only with type, status and reason, and only if listed
	certificate    time.Time          // when it expires; zero without a certificate
	otherOperator  bool
	listed         bool
}

func newStackMetrics() *stackMetrics {
	return &stackMetrics{states: map[types.NamespacedName]*stackState{}, listed: map[string]int{}}
}

// Observe exports the status of a stack until Forget is called. The parameter `certificate` is the time when the first
// of its certificates expires, or zero.
func Observe(stack *v1alpha2.LlamaStackDistribution, certificate time.Time) {
	all.observe(stack, certificate)
}

// ObserveOtherOperator records whether another operator manages a stack.
func ObserveOtherOperator(stack types.NamespacedName, acts bool) {
	all.observeOtherOperator(stack, acts)
}

// Forget removes a stack from the metrics.
func Forget(name types.NamespacedName) { all.forget(name) }

func (m *stackMetrics) observe(stack *v1alpha2.LlamaStackDistribution, certificate time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.state(types.NamespacedName{Namespace: stack.Namespace, Name: stack.Name})
	now.phase, now.release, now.certificate = string(stack.Status.Phase), "", certificate
	if resolved := stack.Status.ResolvedDistribution; resolved != nil {
		now.release = resolved.ServerRelease
	}
	now.conditions = now.conditions[:0]
	if !now.listed {
		return
	}
	for _, c := range stack.Status.Conditions {
		now.conditions = append(now.conditions, metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
}

func (m *stackMetrics) observeOtherOperator(name types.NamespacedName, acts bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.states[name]; known || acts {
		m.state(name).otherOperator = acts
	}
}

// state returns the state of a stack, and gives the stack series of its own if the limits allow it.
func (m *stackMetrics) state(name types.NamespacedName) *stackState {
	now := m.states[name]
	if now == nil {
		now = &stackState{}
		m.states[name] = now
	}
	if !now.listed && m.total < maxListed && m.listed[name.Namespace] < maxListedOfNamespace {
		now.listed = true
		m.listed[name.Namespace]++
		m.total++
	}
	return now
}

func (m *stackMetrics) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if state := m.states[name]; state != nil && state.listed {
		m.total--
		if m.listed[name.Namespace]--; m.listed[name.Namespace] == 0 {
			delete(m.listed, name.Namespace)
		}
	}
	delete(m.states, name)
}

// Describe implements prometheus.Collector.
func (m *stackMetrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, each := range []*prometheus.Desc{
		stacksMetric, unlistedMetric, conditionMetric, certificateMetric, otherOperatorMetric,
	} {
		descriptions <- each
	}
}

// Collect implements prometheus.Collector.
func (m *stackMetrics) Collect(found chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	type group struct{ phase, release string }
	counts := map[group]int{}
	for name, stack := range m.states {
		if stack.phase != "" { // this operator has written a status
			counts[group{stack.phase, stack.release}]++
		}
		if stack.listed {
			stack.collect(found, name)
		}
	}
	gauge := func(metric *prometheus.Desc, value int, labels ...string) {
		found <- prometheus.MustNewConstMetric(metric, prometheus.GaugeValue, float64(value), labels...)
	}
	for of, count := range counts {
		gauge(stacksMetric, count, of.phase, of.release)
	}
	if len(m.states) > 0 { // this is the active instance
		gauge(unlistedMetric, len(m.states)-m.total)
	}
}

// collect sends the series of one stack.
func (s *stackState) collect(found chan<- prometheus.Metric, name types.NamespacedName) {
	gauge := func(metric *prometheus.Desc, value float64, labels ...string) {
		labels = append([]string{name.Namespace, name.Name}, labels...)
		found <- prometheus.MustNewConstMetric(metric, prometheus.GaugeValue, value, labels...)
	}
	for _, c := range s.conditions {
		gauge(conditionMetric, conditionValue(c.Status), c.Type, c.Reason)
	}
	if !s.certificate.IsZero() {
		gauge(certificateMetric, float64(s.certificate.Unix()))
	}
	if s.otherOperator {
		gauge(otherOperatorMetric, 1)
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
