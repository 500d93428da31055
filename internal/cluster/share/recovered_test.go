package share_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

func TestRecovered(t *testing.T) {
	if err := share.Recovered(func() {}); err != nil {
		t.Error(err)
	}
	err := share.Recovered(func() { panic("a defect") })
	if err == nil || !strings.Contains(err.Error(), "a defect") || !strings.Contains(err.Error(), "recovered_test.go") {
		t.Errorf("got %v, want the cause and the place of the panic", err)
	}
}

// TestParallel checks that the caller can handle a panic, and that the other calls end first.
func TestParallel(t *testing.T) {
	var sum atomic.Int64
	err := share.Recovered(func() {
		share.Parallel([]int{1, 2, 4}, func(one int) {
			if one == 2 {
				panic("a defect")
			}
			sum.Add(int64(one))
		})
	})
	if err == nil || !strings.Contains(err.Error(), "a defect") || sum.Load() != 5 {
		t.Errorf("got %v and the sum %d, want the panic and 5", err, sum.Load())
	}
}
