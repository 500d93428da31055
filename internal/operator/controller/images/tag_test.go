package images

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// TestTagThatCannotBeCompared checks that an operator that has not queried the registry yet keeps the message of the
// previous operator about a tag that cannot be compared, but no other message.
func TestTagThatCannotBeCompared(t *testing.T) {
	message := notCompared(errors.New("status 503"))
	if !strings.Contains(message, "status 503") || notCompared(nil) != "" {
		t.Errorf("message %q, and %q without an error", message, notCompared(nil))
	}
	for told, want := range map[string]string{message: message, "The last rollout failed": ""} {
		own := &stack{}
		own.Status.Conditions = []metav1.Condition{{Type: v1alpha2.ConditionDegraded, Message: told}}
		if got := toldBefore(own, &Labels{}); got != (Tag{Stale: want}) {
			t.Errorf("%s: %+v, want %q", told, got, want)
		}
	}
}
