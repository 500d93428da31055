package testutil_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestStart(t *testing.T) {
	auditLog := filepath.Join(t.TempDir(), "audit.log")
	plane, err := testutil.Start(testutil.Options{AuditLog: auditLog})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := plane.Client()
	if err != nil {
		t.Fatal(err)
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Name, stack.Namespace = "first", "default"
	stack.Spec.Distribution.Name = "starter"
	if err := c.Create(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), `"objectRef":{"resource":"llamastackdistributions"`) {
		t.Error("the audit log does not show the request")
	}
}

func TestStartWithoutAssets(t *testing.T) {
	for name, folder := range map[string]string{"unset": "", "empty": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", folder)
			_, err := testutil.Start(testutil.Options{})
			if err == nil || !strings.Contains(err.Error(), "make test") {
				t.Errorf("Start: %v, want an error with `make test`", err)
			}
		})
	}
}
