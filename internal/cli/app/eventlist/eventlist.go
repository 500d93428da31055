package eventlist

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Event is an event, or several events that differ only in time.
type Event struct {
	First   metav1.Time `json:"first"`
	Last    metav1.Time `json:"last"`
	Count   int         `json:"count"`
	Type    string      `json:"type"`
	Reason  string      `json:"reason"`
	Object  string      `json:"object"`
	Message string      `json:"message"`
}

// Options select and sort events.
type Options struct {
	// Since selects events after a point in time. Zero selects all events.
	Since time.Time
	// WarningsFirst sorts warnings before other events.
	WarningsFirst bool
}

// hashed contains the kinds whose objects have names with generated suffixes, and the patterns of the suffixes.
var hashed = map[string]*regexp.Regexp{
	"ReplicaSet": regexp.MustCompile(`^-[bcdfghjklmnpqrstvwxz2456789]{6,10}$`),
	"Pod":        regexp.MustCompile(`^-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`),
}

// children returns the name of the stack, and the names of its children with fixed names, by kind.
func children(stack string) map[string]string {
	return map[string]string{
		v1alpha2.Kind: stack, "Deployment": names.Deployment(stack), "Service": names.Service(stack),
		"ServiceAccount": names.ServiceAccount(stack), "PersistentVolumeClaim": names.PersistentVolumeClaim(stack),
		"PodDisruptionBudget": names.PodDisruptionBudget(stack), "NetworkPolicy": names.NetworkPolicy(stack),
		"HorizontalPodAutoscaler": names.HorizontalPodAutoscaler(stack), "Ingress": names.Ingress(stack),
		"Route": names.Route(stack), "HTTPRoute": names.HTTPRoute(stack), "BackendTLSPolicy": names.BackendTLSPolicy(stack),
	}
}

// Concerns reports whether an object is the given stack, or one of the objects that the operator and Kubernetes create
// for the stack. It compares only kinds and names, because the object may no longer exist.
func Concerns(stack string, object *corev1.ObjectReference) bool {
	if name, fixed := children(stack)[object.Kind]; fixed {
		return object.Name == name
	}
	if object.Kind == "Pod" && strings.HasPrefix(object.Name, names.PreflightPrefix(stack)) {
		return true
	}
	form, known := hashed[object.Kind]
	rest, ours := strings.CutPrefix(object.Name, stack)
	return known && ours && form.MatchString(rest)
}

// Selector excludes kinds that have many events and do not belong to stacks. It cannot select only the objects of a
// stack, because a field selector cannot name several objects.
const Selector = "involvedObject.kind!=Node," +
	"involvedObject.kind!=Job,involvedObject.kind!=CronJob,involvedObject.kind!=StatefulSet"

// MaxEvents is the maximum number of events that a Collector keeps. Anyone who may create events in the namespace can
// create any number for a stack.
const MaxEvents = 5000

// Collector collects the events of a stack, one page at a time. It does not keep the events of other objects in memory.
type Collector struct {
	// LeftOut reports whether there are more than MaxEvents events, of which the Collector keeps the newest.
	LeftOut bool
	stack   string
	events  map[Event]*Event
}

// NewCollector returns a collector for the events of a stack.
func NewCollector(stack string) *Collector {
	return &Collector{stack: stack, events: map[Event]*Event{}}
}

// Add adds the events of a page that concern the stack.
func (c *Collector) Add(page []corev1.Event) {
	for i := range page {
		event := &page[i]
		if Concerns(c.stack, &event.InvolvedObject) {
			c.add(event)
		}
	}
	if more := len(c.events) - MaxEvents; more > 0 {
		c.LeftOut = true
		for _, event := range c.Events(Options{})[:more] {
			delete(c.events, Event{Type: event.Type, Reason: event.Reason, Object: event.Object, Message: event.Message})
		}
	}
}

func (c *Collector) add(event *corev1.Event) {
	one := Event{
		Type: event.Type, Reason: event.Reason, Object: event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name,
		Message: strings.TrimSpace(event.Message),
	}
	first, last, count := timesOf(event)
	sum := c.events[one]
	if sum == nil {
		sum = &Event{
			First: first, Last: last, Type: one.Type, Reason: one.Reason, Object: one.Object, Message: one.Message,
		}
		c.events[one] = sum
	}
	sum.Count += count
	if first.Before(&sum.First) {
		sum.First = first
	}
	if sum.Last.Before(&last) {
		sum.Last = last
	}
}

// timesOf returns the times of the first and the last occurrence of an event, and the number of occurrences. Components
// report these facts in different fields.
func timesOf(event *corev1.Event) (first, last metav1.Time, count int) {
	first, last, count = event.FirstTimestamp, event.LastTimestamp, max(1, int(event.Count))
	if first.IsZero() {
		first = metav1.NewTime(event.EventTime.Time)
	}
	if series := event.Series; series != nil {
		last, count = metav1.NewTime(series.LastObservedTime.Time), max(count, int(series.Count))
	}
	if first.IsZero() {
		first = event.CreationTimestamp
	}
	if last.IsZero() {
		last = first
	}
	return first, last, count
}

// Events returns the collected events since options.Since, the oldest first. With options.WarningsFirst, the warnings
// precede all other events.
func (c *Collector) Events(options Options) []Event {
	found := make([]Event, 0, len(c.events))
	for _, event := range c.events {
		if !event.Last.Time.Before(options.Since) {
			found = append(found, *event)
		}
	}
	slices.SortFunc(found, func(a, b Event) int {
		order := 0
		if options.WarningsFirst {
			order = cmp.Compare(rank(a), rank(b))
		}
		return cmp.Or(
			order,
			a.Last.Compare(b.Last.Time),
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return found
}

func rank(event Event) int {
	if event.Type == corev1.EventTypeWarning {
		return 0
	}
	return 1
}

// Table returns the events as a table.
func Table(events []Event, width int, now time.Time) string {
	table := layout.Table{
		Header: []string{"LAST SEEN", "COUNT", "TYPE", "REASON", "OBJECT", "MESSAGE"},
		Drop:   []string{"COUNT"}, WrapLast: true,
	}
	for _, event := range events {
		table.Rows = append(table.Rows, []string{
			layout.Age(event.Last.Time, now), strconv.Itoa(event.Count), event.Type, event.Reason, event.Object,
			event.Message,
		})
	}
	return table.String(width)
}
