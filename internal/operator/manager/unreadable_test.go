package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestCacheOfUnreadableStacks checks that stacks which are stored without the bounds of the definition and the policy
// do not keep the operator from reading the other stacks.
func TestCacheOfUnreadableStacks(t *testing.T) {
	cluster := testutil.StartCluster(t, testutil.Options{Bare: true})
	installUnbounded(t, cluster)
	deep := strings.Repeat(`{"a":`, 9_997) + "1" + strings.Repeat("}", 9_997)
	for name, spec := range map[string]string{
		"deep":     `{"distribution":{"name":"starter"},"settings":` + deep + `}`,
		"quantity": `{"distribution":{"name":"starter"},"workload":{"resources":{"limits":{"cpu":"1e-999999999"}}}}`,
		"good":     `{"distribution":{"name":"starter"}}`,
	} {
		create(t, cluster.Plane.Config, name, spec)
	}
	config := clientConfig(cluster.Plane.Config, Options{QPS: -1}, "test")
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	options := caches.Options(nil)
	options.Scheme, options.ByObject = scheme, nil
	found, err := cache.New(config, options)
	testutil.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	if _, err := found.GetInformer(ctx, &v1alpha2.LlamaStackDistribution{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	running.Go(func() { _ = found.Start(ctx) })
	if !found.WaitForCacheSync(ctx) {
		t.Fatal("the cache is not filled")
	}
	for name, want := range map[string]string{
		"good":     "",
		"deep":     "spec: is nested 9999 levels deep, and cannot be read: delete the stack",
		"quantity": "spec.workload.resources.limits[cpu]: must be a quantity",
	} {
		stack := &v1alpha2.LlamaStackDistribution{}
		testutil.Must(t, found.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, stack))
		_, _, errs := validate.Spec(stack)
		if got := intent.Messages(errs); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: errors %q, want %q", name, got, want)
		}
	}
}

// installUnbounded installs the definition without the bounds of quantities, as the API server used it before.
func installUnbounded(t *testing.T, cluster *testutil.Cluster) {
	t.Helper()
	const file = "config/crd/bases/llamastack.io_llamastackdistributions.yaml"
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), file))
	testutil.Must(t, err)
	data, err := objects[0].MarshalJSON()
	testutil.Must(t, err)
	form, err := json.Marshal(quantity.Form)
	testutil.Must(t, err)
	data = bytes.ReplaceAll(data, append([]byte(`"pattern":`), form...), []byte(`"pattern":"."`))
	testutil.Must(t, objects[0].UnmarshalJSON(data))
	testutil.Must(t, cluster.Create(t.Context(), objects[0]))
	testutil.Must(t, cluster.Plane.WaitForDefinition())
}

// create creates a stack from JSON that no client can encode.
func create(t *testing.T, config *rest.Config, name, spec string) {
	t.Helper()
	plain, err := rest.UnversionedRESTClientFor(&rest.Config{
		Host: config.Host, TLSClientConfig: config.TLSClientConfig,
		APIPath: "/apis", ContentConfig: rest.ContentConfig{
			GroupVersion: &v1alpha2.GroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(kruntime.NewScheme()),
		},
	})
	testutil.Must(t, err)
	body := fmt.Sprintf(`{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution","metadata":{"name":%q},"spec":%s}`, name, spec)
	var code int
	answer := plain.Post().AbsPath("/apis/llamastack.io/v1alpha2/namespaces/default/llamastackdistributions").
		SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(t.Context()).StatusCode(&code)
	if _, err := answer.Raw(); code != http.StatusCreated {
		t.Fatalf("create %s: %d %v", name, code, err)
	}
}
