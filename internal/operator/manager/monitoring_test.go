package manager_test

import (
	"context"
	"crypto/tls"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var monitoredMetric = regexp.MustCompile(`\b(llama_stack_operator|controller_runtime|workqueue|rest_client|process)_[a-z_]+`)

// expectMonitored checks that the operator changes nothing while the definition names another installation, and then
// exports each of its metrics that an alert or the dashboard uses.
func (o *runningOperator) expectMonitored(t *testing.T, admin client.Client, token string) {
	t.Helper()
	wanted := map[string]bool{}
	for _, file := range []string{"prometheusrule.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join(testutil.Root(), "config", "monitoring", file))
		testutil.Must(t, err)
		for _, name := range monitoredMetric.FindAllString(string(text), -1) {
			wanted[name] = true
		}
	}
	// These need an operator for v1alpha1, a Secret with a certificate, and an API server that reaches the webhooks.
	for _, name := range []string{
		"llama_stack_operator_other_operator", "llama_stack_operator_stack_certificate_expiry_seconds",
		"controller_runtime_webhook_latency_seconds_bucket",
	} {
		delete(wanted, name)
	}
	if len(wanted) < 15 {
		t.Fatalf("only %d metrics are used", len(wanted))
	}
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config", "samples", "v1alpha2-simple.yaml"))
	testutil.Must(t, err)
	for _, object := range objects {
		object.SetNamespace("default")
		testutil.Must(t, admin.Create(t.Context(), object))
	}
	// The definition names an installation in the namespace of the manifests, so this operator pauses.
	o.expectMetrics(t, token, "llama_stack_operator_other_installation")
	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = names.CustomResourceDefinition
	patch := client.RawPatch(types.JSONPatchType, []byte(
		`[{"op": "replace", "path": "/spec/conversion/webhook/clientConfig/service/namespace", "value": "default"}]`))
	testutil.Must(t, admin.Patch(t.Context(), definition, patch))
	delete(wanted, "llama_stack_operator_other_installation")
	o.expectMetrics(t, token, slices.Sorted(maps.Keys(wanted))...)
}

// expectMetrics polls until the operator exports the metrics.
func (o *runningOperator) expectMetrics(t *testing.T, token string, wanted ...string) {
	t.Helper()
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var missing []string
	look := func(ctx context.Context) (bool, error) {
		code, text := ask(ctx, web, "https://"+o.metrics+"/metrics", "Authorization", "Bearer "+token)
		if code != http.StatusOK {
			return false, nil
		}
		missing = missing[:0]
		for _, name := range wanted {
			if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") {
				missing = append(missing, name)
			}
		}
		return len(missing) == 0, nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, look); err != nil {
		t.Fatalf("config/monitoring uses metrics that the operator does not export: %q\n%s", missing, o.output)
	}
}
