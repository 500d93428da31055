package report_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// TestLimited checks that the number of recorded events is bounded, that one namespace does not use up the events of
// another one, and that many namespaces together are bounded too.
func TestLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := events.NewFakeRecorder(100_000)
		recorder := report.Limited(told)
		record := func(namespace string, count int) int {
			before := len(told.Events)
			for i := range count {
				stack := &v1alpha2.LlamaStackDistribution{}
				stack.Name, stack.Namespace = fmt.Sprint(i), namespace
				recorder.Eventf(stack, nil, corev1.EventTypeWarning, "Reason", report.Action, "%s", "note")
			}
			return len(told.Events) - before
		}
		if got := record("loud", 20_000); got != 1000 {
			t.Errorf("%d events of one namespace at once, want 1000", got)
		}
		if got := record("calm", 10); got != 10 {
			t.Errorf("%d events of another namespace, want 10", got)
		}
		<-time.After(time.Minute)
		if got := record("loud", 20_000); got != 120 {
			t.Errorf("%d events of one namespace in a minute, want 120", got)
		}
		for i := range 20 {
			record(fmt.Sprint("loud-", i), 1000)
		}
		if got := len(told.Events); got > 7000 {
			t.Errorf("%d events of all namespaces in a minute, want at most 7000", got)
		}
	})
}
