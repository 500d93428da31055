package scale_test

import (
	"fmt"
	"os"
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
// and a changed stack for its new pod. The last time includes the Deployment controller's. Run it with -benchtime=1x,
// as `make bench-latency` does.
func BenchmarkLatency(b *testing.B) {
	*controllers = true
	for b.Loop() {
		c := startCluster(b, inCalm)
		o := c.startOperator(b)
		c.addPlainStacks(b, "one", once(1))
		o.returnsMemory(b)
		resident, anonymous := o.resident(b), o.memory(b, "RssAnon:")
		created := c.addPlainStacks(b, "quick", once(quickStacks))
		c.rests(b)
		changed := c.changePlainStacks(b, "quick", quickStacks)
		o.stop(b)
		fmt.Fprintf(os.Stdout, "\n| measure | figure | limit |\n|---|---|---|\n")
		fmt.Fprintf(os.Stdout, "| resident memory with one stack, and its anonymous part | %.0f MiB, %.0f MiB | 70 MB, 25 MB |\n",
			resident, anonymous)
		fmt.Fprintf(os.Stdout, "| from a new stack to its Deployment: median, 99th percentile, slowest of %d | %s | 100 ms, 400 ms |\n",
			len(created), spread(created))
		fmt.Fprintf(os.Stdout, "| from a change to the new pod: the same | %s | 250 ms |\n", spread(changed))
		b.ReportMetric(1000*median(created), "ms-created")
		b.ReportMetric(1000*median(changed), "ms-changed")
	}
}

// spread returns the median, the 99th percentile and the maximum of times in seconds.
func spread(seconds []float64) string {
	sorted := slices.Sorted(slices.Values(seconds))
	return fmt.Sprintf("%.0f ms, %.0f ms, %.0f ms", 1000*median(sorted), 1000*sorted[len(sorted)*99/100-1],
		1000*sorted[len(sorted)-1])
}

// changePlainStacks adds a pod label to the first n plain stacks, one after the other, and returns, for each of them,
// the time in seconds until there is a pod with the label.
func (c *cluster) changePlainStacks(b *testing.B, prefix string, n int) []float64 {
	b.Helper()
	change := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"workload":{"overrides":{"podLabels":{"changed":"yes"}}}}}`))
	var waited []float64
	for i := range n {
		stack := &v1alpha2.LlamaStackDistribution{}
		stack.Namespace, stack.Name = inCalm, fmt.Sprintf("%s-%d", prefix, i)
		wanted := client.MatchingLabels(names.Selector(stack.Name))
		wanted["changed"] = "yes"
		started := time.Now()
		testutil.Must(b, c.Patch(b.Context(), stack, change))
		eventually(b, poll/10, "the pod of a changed stack", func() (bool, error) {
			var pods corev1.PodList
			err := c.List(b.Context(), &pods, client.InNamespace(inCalm), wanted)
			return len(pods.Items) > 0, err
		})
		waited = append(waited, time.Since(started).Seconds())
	}
	return waited
}
