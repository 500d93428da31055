package testutil

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Eventually polls until done says so, and fails the test after half a minute.
func Eventually(t testing.TB, what string, done func() (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, settle, true, func(context.Context) (bool, error) { return done() })
	if err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}
