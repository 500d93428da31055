package scale_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// quickStacks is the number of stacks that are created, and then changed, one after the other.
const quickStacks = 100

// BenchmarkLatency measures the memory of an operator with one stack, how long a new stack waits for its Deployment,
// and how long a changed stack waits for the change of its Deployment and for its new pod. Run it with -benchtime=1x,
// as `make bench-latency` does.
func BenchmarkLatency(b *testing.B) {
	repeat(b, fmt.Sprintf("%d stacks, one after the other", quickStacks), func(b *testing.B) []figure {
		c := startCluster(b, inCalm)
		// The controllers make at most 20 calls a second by default. A hundred changes without a pause need more, so the
		// later ones would wait for the earlier ones.
		testutil.RunControllers(b, c.Kubeconfig, []string{"deployment-controller", "replicaset-controller"},
			"--kube-api-qps=1000", "--kube-api-burst=1000")
		o := c.startOperator(b)
		c.addPlainStacks(b, "one", once(1))
		o.returnsMemory(b)
		memory := []float64{o.resident(b), o.memory(b, "RssAnon:")}
		created := c.addPlainStacks(b, "quick", once(quickStacks))
		c.rests(b)
		begin := c.audited(b)
		updated, started := c.changePlainStacks(b, "quick", quickStacks)
		c.rests(b)
		made, reads, _ := c.counts(b, begin)
		o.stop(b)
		const times = "%.0f ms, %.0f ms, %.0f ms"
		return []figure{
			{"resident memory with one stack, and its anonymous part", "%.0f MiB, %.0f MiB", "70 MB, 25 MB", memory},
			{"from a new stack to its Deployment: median, 99th percentile, slowest", times, "100 ms, 400 ms", spread(created)},
			{"from a change to the changed Deployment, which is the operator's part: the same", times, "", spread(updated)},
			{"from a change to the new pod: the same", times, "250 ms", spread(started)},
			{
				"writes and reads of the operator for a change", "%.1f, %.1f", "",
				[]float64{float64(made) / quickStacks, float64(reads) / quickStacks},
			},
		}
	})
}

// spread returns the median, the 99th percentile and the maximum of times in seconds, in milliseconds.
func spread(seconds []float64) []float64 {
	sorted := slices.Sorted(slices.Values(seconds))
	return []float64{1000 * median(sorted), 1000 * sorted[len(sorted)*99/100-1], 1000 * sorted[len(sorted)-1]}
}

// changePlainStacks adds a pod label to the first n plain stacks, one after the other. It returns, for each of them,
// the time in seconds until the operator has changed the Deployment, and until there is a pod with the label.
func (c *cluster) changePlainStacks(b *testing.B, prefix string, n int) (updated, started []float64) {
	b.Helper()
	change := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"workload":{"overrides":{"podLabels":{"changed":"yes"}}}}}`))
	for i := range n {
		stack := &v1alpha2.LlamaStackDistribution{}
		stack.Namespace, stack.Name = inCalm, fmt.Sprintf("%s-%d", prefix, i)
		wanted := client.MatchingLabels(names.Selector(stack.Name))
		wanted["changed"] = "yes"
		begin, changed := c.audited(b), time.Now()
		testutil.Must(b, c.Patch(b.Context(), stack, change))
		eventually(b, poll/10, "the pod of a changed stack", func() (bool, error) {
			var pods corev1.PodList
			err := c.List(b.Context(), &pods, client.InNamespace(inCalm), wanted)
			return len(pods.Items) > 0, err
		})
		started = append(started, time.Since(changed).Seconds())
		calls := c.calls(b, begin)
		write := slices.IndexFunc(calls, func(one call) bool {
			return one.Verb == "patch" && one.ObjectRef.Resource == "deployments"
		})
		if write < 0 {
			b.Fatalf("no write of the Deployment of %s in %d calls", stack.Name, len(calls))
		}
		updated = append(updated, calls[write].StageTimestamp.Sub(changed).Seconds())
	}
	return updated, started
}
