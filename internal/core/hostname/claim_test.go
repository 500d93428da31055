package hostname_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
)

// TestHostnamePrecedence checks that the stack that is exposed with a host name takes precedence over a stack that is
// not, and otherwise the older stack over the newer one. For stacks that were created in the same second, the order is
// stable.
func TestHostnamePrecedence(t *testing.T) {
	stack := func(uid string, second int64, holds bool) hostname.Claim {
		object := &v1alpha2.LlamaStackDistribution{}
		object.UID, object.CreationTimestamp = types.UID(uid), metav1.NewTime(time.Unix(second, 0))
		return hostname.Claim{Stack: object, Holds: holds}
	}
	shown := func(c hostname.Claim) hostname.Claim {
		c.Shown = true
		return c
	}
	for name, tc := range map[string]struct{ first, second hostname.Claim }{
		"older stack":                    {stack("b", 1, false), stack("a", 2, false)},
		"same second":                    {stack("a", 1, false), stack("b", 1, false)},
		"newer stack uses the host name": {stack("b", 9, true), stack("a", 1, false)},
		"both stacks use the host name":  {stack("b", 1, true), stack("a", 2, true)},
		"its status shows the host name": {shown(stack("b", 9, true)), stack("a", 1, true)},
	} {
		for _, claims := range [][]hostname.Claim{{tc.first, tc.second}, {tc.second, tc.first}} {
			if got := hostname.First(claims); got != tc.first {
				t.Errorf("%s: stack %s takes precedence, want %s", name, got.Stack.UID, tc.first.Stack.UID)
			}
		}
	}
}
