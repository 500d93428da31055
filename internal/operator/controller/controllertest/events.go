package controllertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ListEvents returns the operator's events in the test's namespace. It leaves out the events of other components. For
// example, the API server reports Services that a test creates while the API server repairs its list of cluster IPs.
func (env *Environment) ListEvents(t *testing.T) []eventsv1.Event {
	t.Helper()
	var list eventsv1.EventList
	if err := env.Client.List(t.Context(), &list, client.InNamespace(env.Namespace)); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items,
		func(e eventsv1.Event) bool { return e.ReportingController != names.EventReporter })
}

// ListEventReasons returns the sorted reasons of the events, and the counts of repeated events.
func (env *Environment) ListEventReasons(t *testing.T) string {
	t.Helper()
	var reasons []string
	for _, event := range env.ListEvents(t) {
		reasons = append(reasons, event.Reason)
		if event.Series != nil {
			reasons = append(reasons, fmt.Sprintf("%s ×%d", event.Reason, event.Series.Count))
		}
	}
	slices.Sort(reasons)
	return strings.Join(reasons, ", ")
}

// WaitForEvent waits for an event of this type and reason, and returns its note.
func (env *Environment) WaitForEvent(t *testing.T, kind, reason string) string {
	t.Helper()
	var note string
	WaitUntil(t, func() error {
		for _, event := range env.ListEvents(t) {
			if event.Type == kind && event.Reason == reason {
				note = event.Note
				return nil
			}
		}
		return fmt.Errorf("no event %s", reason)
	})
	return note
}
