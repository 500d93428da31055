package admission

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const usual = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000/v1", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
  vectorIo: {provider: pgvector, settings: {host: db},
    secretRefs: {password: {secretKeyRef: {name: db, key: password}}}}
resources: {models: ["llama3.2-8b"]}
storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: db, key: url}}}}
workload: {replicas: 2, resources: {limits: {memory: 2Gi}}}
networking: {expose: true}
`

// BenchmarkHandle measures an update of an ordinary stack without a dry run, and reports the median and the 99th
// percentile of the durations.
func BenchmarkHandle(b *testing.B) {
	measure(b, newValidator(b, nil), update(object(b, good, nil), object(b, usual, nil)))
}

// BenchmarkTry measures the creation and an update of an ordinary stack with a dry run on a real API server, and
// reports the median and the 99th percentile of the durations.
func BenchmarkTry(b *testing.B) {
	c := cluster(b)
	namespace := made(b, c)
	in := func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = namespace }
	stack := object(b, usual, in)
	for name, request := range map[string]admission.Request{
		"create": create(stack),
		"update": update(object(b, strings.Replace(usual, "2Gi", "4Gi", 1), in), stack),
	} {
		b.Run(name, func(b *testing.B) { measure(b, newValidator(b, nil, c), request) })
	}
}

// measure measures a request, and reports the median and the 99th percentile of the durations.
func measure(b *testing.B, validator *Validator, request admission.Request) {
	b.Helper()
	validator.Prepare(b.Context())
	if got := validator.Handle(b.Context(), request); !got.Allowed {
		b.Fatal(got.Result)
	}
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		validator.Handle(b.Context(), request)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}
