package manager_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var monitoredMetric = regexp.MustCompile(`\b(llama_stack_operator|controller_runtime|workqueue|rest_client|process)_[a-z_]+`)

// expectMonitored checks that the operator exports each of its metrics that an alert or the dashboard uses.
func (o *runningOperator) expectMonitored(t *testing.T, admin client.Client, token string) {
	t.Helper()
	wanted := map[string]bool{}
	for _, file := range []string{"prometheusrule.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join(testutil.Root(), "config", "monitoring", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range monitoredMetric.FindAllString(string(text), -1) {
			wanted[name] = true
		}
	}
	// These two need another operator, and a certificate that only a Secret of a stack has. Unit tests check them.
	delete(wanted, "llama_stack_operator_other_operator")
	delete(wanted, "llama_stack_operator_stack_certificate_expiry_seconds")
	if len(wanted) < 15 {
		t.Fatalf("only %d metrics are used", len(wanted))
	}
	stack, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config", "samples", "v1alpha2-simple.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	stack[0].SetNamespace("default")
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	created, missing := false, []string(nil)
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		created = created || admin.Create(ctx, stack[0]) == nil // the API server may not reach the webhook yet
		_, text := ask(ctx, web, "https://"+o.metrics+"/metrics", "Authorization", "Bearer "+token)
		missing = missing[:0]
		for name := range wanted {
			if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") {
				missing = append(missing, name)
			}
		}
		return len(missing) == 0, nil
	})
	if err != nil {
		slices.Sort(missing)
		t.Errorf("config/monitoring uses metrics that the operator does not export (the stack exists: %t): %q", created, missing)
	}
}
