package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestHostnamePrecedence checks that the stack that is exposed with a host name takes precedence over a stack that is
// not, and otherwise the older stack over the newer one. For stacks that were created in the same second, the order is
// stable.
func TestHostnamePrecedence(t *testing.T) {
	stack := func(uid string, second int64, holds bool) claim {
		object := &stack{}
		object.UID, object.CreationTimestamp = types.UID(uid), metav1.NewTime(time.Unix(second, 0))
		return claim{stack: object, holds: holds}
	}
	shown := func(c claim) claim {
		c.shown = true
		return c
	}
	for name, tc := range map[string]struct{ first, second claim }{
		"older stack":                    {stack("b", 1, false), stack("a", 2, false)},
		"same second":                    {stack("a", 1, false), stack("b", 1, false)},
		"newer stack uses the host name": {stack("b", 9, true), stack("a", 1, false)},
		"both stacks use the host name":  {stack("b", 1, true), stack("a", 2, true)},
		"its status shows the host name": {shown(stack("b", 9, true)), stack("a", 1, true)},
	} {
		for _, claims := range [][]claim{{tc.first, tc.second}, {tc.second, tc.first}} {
			if got := firstOf(claims); got != tc.first {
				t.Errorf("%s: stack %s takes precedence, want %s", name, got.stack.UID, tc.first.stack.UID)
			}
		}
	}
}
