package failure_test

import (
	"cmp"
	"net/http"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/failure"
)

// TestPause checks how the Retry-After header in a failed response is used.
func TestPause(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "3600": time.Hour, "3601": time.Hour, "18446744073709551615": time.Hour,
		"99999999999999999999999": time.Hour, "-1": 0, "1.5": 0, "soon": 0, "Fri, 31 Dec 9999 23:59:59 GMT": time.Hour,
		"Fri, 31 Dec 1999 23:59:59 GMT": 0,
	} {
		for status, least := range map[int]time.Duration{
			http.StatusServiceUnavailable: 0, http.StatusTooManyRequests: 10 * time.Second,
		} {
			got := failure.Pause(status, http.Header{"Retry-After": {header}})
			if wanted := cmp.Or(want, least); got != wanted {
				t.Errorf("%d, %q: %v, want %v", status, header, got, wanted)
			}
		}
	}
}
