package eventlist_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/eventlist"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestConcerns(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, object string
		want         bool
	}{
		"the stack":                        {"LlamaStackDistribution", "my", true},
		"another stack":                    {"LlamaStackDistribution", "my-other", false},
		"Deployment":                       {"Deployment", "my", true},
		"ReplicaSet":                       {"ReplicaSet", "my-7d9f8c6b5", true},
		"pod of the stack":                 {"Pod", "my-7d9f8c6b5-x2k4z", true},
		"pod of another stack":             {"Pod", "my-other-7d9f8c6b5-x2k4z", false},
		"a preflight":                      {"Pod", "my-preflight-1a2b3c4d", true},
		"volume":                           {"PersistentVolumeClaim", "my-pvc", true},
		"volume of another stack":          {"PersistentVolumeClaim", "my-other-pvc", false},
		"exposure":                         {"Ingress", "my-ingress", true},
		"autoscaler":                       {"HorizontalPodAutoscaler", "my-hpa", true},
		"kind that is not part of a stack": {"Node", "my", false},
		"pod with the name of the stack":   {"Pod", "my", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := eventlist.Concerns("my", &corev1.ObjectReference{Kind: tc.kind, Name: tc.object}); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

// TestManyEvents checks that a collector keeps the newest of many different events. Anyone can create them for a stack.
func TestManyEvents(t *testing.T) {
	const pages, each = 13, 500
	collector := eventlist.NewCollector("my")
	for page := range pages {
		var events []corev1.Event
		for i := range each {
			events = append(events, event("Deployment", "my", "Normal", "Forged", fmt.Sprint(page, " ", i), page*each+i, 1))
		}
		collector.Add(events)
	}
	found := collector.Events(eventlist.Options{})
	if len(found) != eventlist.MaxEvents || !collector.LeftOut {
		t.Fatalf("%d events, left out: %t", len(found), collector.LeftOut)
	}
	if newest := found[len(found)-1].Last.Time; !newest.Equal(now) {
		t.Errorf("the newest event is from %v, want %v", newest, now)
	}
}

func event(kind, name, class, reason, message string, minutes, count int) corev1.Event {
	at := metav1.NewTime(now.Add(-time.Duration(minutes) * time.Minute))
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Type: class, Reason: reason, Message: message,
		FirstTimestamp: at, LastTimestamp: at, Count: int32(count),
	}
}

func TestEvents(t *testing.T) {
	series := event("Pod", "my-7d9f8c6b5-x2k4z", "Normal", "Pulled", "Image pulled", 0, 0)
	series.FirstTimestamp, series.LastTimestamp = metav1.Time{}, metav1.Time{}
	series.EventTime = metav1.NewMicroTime(now.Add(-time.Hour))
	series.Series = &corev1.EventSeries{Count: 5, LastObservedTime: metav1.NewMicroTime(now.Add(-2 * time.Minute))}
	collector := eventlist.NewCollector("my")
	collector.Add([]corev1.Event{
		event("Pod", "my-7d9f8c6b5-x2k4z", "Warning", "BackOff", "Back-off restarting", 10, 3),
		event("Deployment", "my", "Normal", "ScalingReplicaSet", "Scaled up", 30, 0),
		event("Deployment", "their", "Warning", "Failed", "not ours", 1, 1),
	})
	again := event("Pod", "my-7d9f8c6b5-x2k4z", "Warning", "BackOff", "Back-off restarting\n", 5, 2)
	collector.Add([]corev1.Event{again, series})
	at := func(minutes int) metav1.Time { return metav1.NewTime(now.Add(-time.Duration(minutes) * time.Minute)) }
	scaled := eventlist.Event{
		First: at(30), Last: at(30), Count: 1, Type: "Normal", Reason: "ScalingReplicaSet",
		Object: "Deployment/my", Message: "Scaled up",
	}
	backOff := eventlist.Event{
		First: at(10), Last: at(5), Count: 5, Type: "Warning", Reason: "BackOff",
		Object: "Pod/my-7d9f8c6b5-x2k4z", Message: "Back-off restarting",
	}
	pulled := eventlist.Event{
		First: at(60), Last: at(2), Count: 5, Type: "Normal", Reason: "Pulled",
		Object: "Pod/my-7d9f8c6b5-x2k4z", Message: "Image pulled",
	}
	for name, tc := range map[string]struct {
		options eventlist.Options
		want    []eventlist.Event
	}{
		"by time":        {eventlist.Options{}, []eventlist.Event{scaled, backOff, pulled}},
		"warnings first": {eventlist.Options{WarningsFirst: true}, []eventlist.Event{backOff, scaled, pulled}},
		"since":          {eventlist.Options{Since: now.Add(-10 * time.Minute)}, []eventlist.Event{backOff, pulled}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, collector.Events(tc.options)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	const want = `LAST SEEN  TYPE     REASON             OBJECT
30m        Normal   ScalingReplicaSet  Deployment/my
  Scaled up
5m         Warning  BackOff            Pod/my-7d9f8c6b5-x2k4z
  Back-off restarting
2m         Normal   Pulled             Pod/my-7d9f8c6b5-x2k4z
  Image pulled
`
	if diff := cmp.Diff(want, eventlist.Table(collector.Events(eventlist.Options{}), 60, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
