package testutil

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Eventually polls until the function `done` returns true. It fails the test if `done` returns an error, or after half
// a minute.
func Eventually(t testing.TB, what string, done func() (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, settle, true,
		func(context.Context) (bool, error) { return done() })
	if err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}

// Within polls until the function `check` returns nil, and returns the elapsed time. If `check` does not return nil
// within the time `patience`, the test fails with the last error.
func Within(t testing.TB, patience time.Duration, check func() error) time.Duration {
	t.Helper()
	var last error
	begin := time.Now()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) {
			last = check()
			return last == nil, nil
		})
	if err != nil {
		t.Fatalf("after %v: %v", patience, last)
	}
	return time.Since(begin)
}
