package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Level is the urgency of a stack's state.
type Level string

const (
	// Wrong means that the stack is not ready, and that the user probably has to act.
	Wrong Level = "wrong"
	// Waiting means that the stack is not ready yet.
	Waiting Level = "waiting"
	// Warning means that the stack needs attention although it may serve requests, for example because it is degraded or
	// paused.
	Warning Level = "warning"
	// OK means that the stack matches its specification.
	OK Level = "ok"
)

// levels contains the levels, the most urgent first.
var levels = []Level{Wrong, Waiting, Warning, OK}

// Row is a stack in a list.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Ready is the status of the condition Ready, or Unknown if the condition does not describe the current generation.
	// It is False for a stack that is being deleted.
	Ready metav1.ConditionStatus `json:"ready"`
	// Status is the state of the stack in a few words, usually the reason of Ready.
	Status string `json:"status"`
	Level  Level  `json:"level"`
	// Release is the release of the running server, or the release line of its configuration.
	Release string `json:"release,omitempty"`
	// URL is the URL outside the cluster if there is one, otherwise the URL inside the cluster.
	URL     string      `json:"url,omitempty"`
	Created metav1.Time `json:"created"`
}

// NewRow returns the row of a stack. It needs no other objects.
func NewRow(stack *v1alpha2.LlamaStackDistribution, now time.Time) Row {
	row := Row{
		Namespace: stack.Namespace, Name: stack.Name, Created: stack.CreationTimestamp,
		URL: cmp.Or(stack.Status.RouteURL, stack.Status.ServiceURL), Release: releaseOf(&stack.Status),
		Ready: metav1.ConditionUnknown,
	}
	ready := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionReady)
	seen := observe(stack, now)
	if ready != nil && seen == current {
		row.Ready = ready.Status
	}
	if at := stack.DeletionTimestamp; at != nil {
		row.Ready = metav1.ConditionFalse
		row.Status, row.Level = "deleting", Waiting
		if now.Sub(at.Time) > stuckDeletion {
			row.Level = Wrong
		}
		return row
	}
	row.Status, row.Level = stateOf(stack, ready, seen)
	return row
}

// stuckDeletion is the time after which an unfinished deletion indicates a problem.
const stuckDeletion = 5 * time.Minute

// stateOf returns the status of a stack in a few words, and its level.
func stateOf(stack *v1alpha2.LlamaStackDistribution, ready *metav1.Condition, seen observation) (string, Level) {
	switch {
	case seen == older:
		return "not adopted yet", Warning
	case seen == unobserved:
		return "not observed", Wrong
	case ready == nil || seen == awaited:
		return "change not observed yet", Waiting
	case names.Paused(stack.Annotations):
		return "paused", Warning
	}
	level := levelOf(stack, ready)
	if level == Warning {
		ready = meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded)
	}
	return Words(ready.Reason), level
}

func releaseOf(status *v1alpha2.LlamaStackDistributionStatus) string {
	if status.Version != nil && status.Version.LlamaStackServerVersion != "" {
		return status.Version.LlamaStackServerVersion
	}
	if status.ResolvedDistribution != nil {
		return status.ResolvedDistribution.ServerRelease
	}
	return ""
}

func levelOf(stack *v1alpha2.LlamaStackDistribution, ready *metav1.Condition) Level {
	conditions := stack.Status.Conditions
	switch {
	case ready.Status == metav1.ConditionTrue && meta.IsStatusConditionTrue(conditions, v1alpha2.ConditionDegraded):
		return Warning
	case ready.Status == metav1.ConditionTrue:
		return OK
	case meta.IsStatusConditionTrue(conditions, v1alpha2.ConditionStalled):
		return Wrong
	case status.InProgress(conditions, ready.Reason):
		return Waiting
	default:
		return Wrong
	}
}

// Words returns a reason in words, for example "rollout failed" for "RolloutFailed".
func Words(reason string) string {
	switch reason {
	case "":
		return "unknown"
	case v1alpha2.ReasonMinimumReplicasAvailable:
		return "serving"
	}
	var text strings.Builder
	runes := []rune(reason)
	for i, r := range runes {
		// A capital letter begins a word, unless it is part of an abbreviation.
		if i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			text.WriteByte(' ')
		}
		text.WriteRune(unicode.ToLower(r))
	}
	return text.String()
}

// List is a list of stacks with a summary.
type List struct {
	Stacks  []Row   `json:"stacks"`
	Summary Summary `json:"summary"`
}

// Summary counts the stacks of a list.
type Summary struct {
	Total      int `json:"total"`
	Ready      int `json:"ready"`
	InProgress int `json:"inProgress"`
	NotReady   int `json:"notReady"`
	Warnings   int `json:"warnings"`
}

// NewList returns the rows of stacks, the most urgent first.
func NewList(stacks []v1alpha2.LlamaStackDistribution, now time.Time) List {
	list := List{Stacks: make([]Row, 0, len(stacks)), Summary: Summary{Total: len(stacks)}}
	for i := range stacks {
		row := NewRow(&stacks[i], now)
		list.Stacks = append(list.Stacks, row)
		switch row.Level {
		case Wrong:
			list.Summary.NotReady++
		case Waiting:
			list.Summary.InProgress++
		case Warning:
			list.Summary.Warnings++
		case OK:
		}
		if row.Ready == metav1.ConditionTrue {
			list.Summary.Ready++
		}
	}
	slices.SortFunc(list.Stacks, func(a, b Row) int {
		return cmp.Or(cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Table returns the list as a table, with a summary and the next command.
func (l *List) Table(width int, now time.Time, namespaces bool, flags string) string {
	table := layout.Table{
		Header: []string{"NAMESPACE", "NAME", "READY", "STATUS", "RELEASE", "URL", "AGE"},
		Drop:   []string{"URL", "RELEASE", "AGE"},
	}
	for i := range l.Stacks {
		row := &l.Stacks[i]
		table.Rows = append(table.Rows, []string{
			row.Namespace, row.Name, string(row.Ready), row.Status, cmp.Or(row.Release, layout.Unknown),
			cmp.Or(row.URL, layout.Unknown),
			layout.Age(row.Created.Time, now),
		})
	}
	if !namespaces {
		table.Omit("NAMESPACE")
	}
	return table.String(width) + "\n" + layout.Paragraph(l.sentence(), width) + l.next(flags)
}

func (l *List) sentence() string {
	sum := &l.Summary
	parts := []string{fmt.Sprintf("%d of %s ready", sum.Ready, status.Count(sum.Total, "stack"))}
	for _, part := range []struct {
		number int
		words  string
	}{{sum.NotReady, "not ready"}, {sum.InProgress, "in progress"}, {sum.Warnings, "with a warning"}} {
		if part.number > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.number, part.words))
		}
	}
	return strings.Join(parts, ", ") + "."
}

// next returns a line with the command that shows the status of the first stack, or "" if no stack has a problem.
func (l *List) next(flags string) string {
	if len(l.Stacks) == 0 || l.Stacks[0].Level == OK {
		return ""
	}
	return "Next: " + command("kubectl llamastack status", &l.Stacks[0], flags) + "\n"
}

// command returns a command for a stack, with all flags that select the stack.
func command(verb string, row *Row, flags string) string {
	return verb + " " + row.Name + " -n " + row.Namespace + flags
}
