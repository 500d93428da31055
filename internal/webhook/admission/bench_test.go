package admission

import (
	"slices"
	"testing"
	"time"
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

// BenchmarkHandle measures an update of an ordinary stack, and reports the 99th percentile of the durations.
func BenchmarkHandle(b *testing.B) {
	validator := newValidator(b, nil)
	validator.Prepare(b.Context())
	request := update(object(b, good, nil), object(b, usual, nil))
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
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}
