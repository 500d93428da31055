package status_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/status"
)

// BenchmarkList measures the time from the request to the formatted list for 500 stacks, with an API server in this
// process.
func BenchmarkList(b *testing.B) {
	stacks := v1alpha2.LlamaStackDistributionList{}
	stacks.APIVersion, stacks.Kind = v1alpha2.GroupVersion.String(), v1alpha2.Kind+"List"
	for i := range 500 {
		stack := *healthy().Stack.DeepCopy()
		stack.APIVersion, stack.Kind, stack.Name = v1alpha2.GroupVersion.String(), v1alpha2.Kind, fmt.Sprintf(
			"stack-%03d",
			i,
		)
		stacks.Items = append(stacks.Items, stack)
	}
	data, err := json.Marshal(stacks)
	if err != nil {
		b.Fatal(err)
	}
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(b.TempDir(), "kubeconfig")
	text := fmt.Sprintf(
		`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}],
		users: [{name: a, user: {}}], contexts: [{name: a, context: {cluster: a, user: a}}]}`,
		server.URL,
	)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		cluster, err := (&kube.Flags{Kubeconfig: kubeconfig, AllNamespaces: true}).Connect("bench")
		if err != nil {
			b.Fatal(err)
		}
		found, err := cluster.Stacks(b.Context())
		if err != nil || len(found) != 500 {
			b.Fatalf("%d stacks, error %v", len(found), err)
		}
		list := status.NewList(found, now)
		_ = list.Table(100, now, true, "")
	}
	b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
}
