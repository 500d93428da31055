package testutil_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

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
