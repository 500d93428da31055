package manager

import (
	"testing"
	"time"
)

// Caches cannot be filled while no webhook converts the objects stored in v1alpha1. The operator does not exit while it
// waits for the caches.
func TestCacheSyncHasNoTimeout(t *testing.T) {
	timeout := managerOptions(nil, Options{}).Controller.CacheSyncTimeout
	if now := time.Now(); now.Add(timeout).Before(now.AddDate(1, 0, 0)) {
		t.Errorf("the operator exits if caches are not filled within %v", timeout)
	}
}
