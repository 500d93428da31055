package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
)

// Outcome is the result of the pipeline for one release.
type Outcome struct {
	// Plan is nil if there are errors that prevent one.
	Plan *plan.Plan
	// Errors and Warnings are messages after the field that they are about. Left is data that stays behind.
	Errors, Warnings, Left []string
}

// Input is a stack with its plans for both releases.
type Input struct {
	Namespace, Name, File string
	// To is the release that the user asks for.
	To string
	// Image is the image in the spec. Such a stack has no other release. Empty means that the spec names a distribution.
	Image string
	// Deleting reports whether the stack is being deleted.
	Deleting bool
	// Unknown lists what prevents an answer.
	Unknown []string
	// Before is the outcome for the release that runs, and After for the one that the user asks for.
	Before, After Outcome
}

// Report is the effect of another release on one stack.
type Report struct {
	Namespace string `json:"namespace,omitempty"`
	Stack     string `json:"stack"`
	File      string `json:"file,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to"`
	Boots     bool   `json:"boots"`
	// Result sums the report up.
	Result Result `json:"result"`
	// Pinned explains why the operator does not change the release of the stack.
	Pinned string `json:"pinned,omitempty"`
	// Unknown lists what prevents an answer.
	Unknown []string `json:"unknown,omitempty"`
	// Actions lists what you have to do, the most urgent first.
	Actions []Action `json:"actions,omitempty"`
	// Refused lists errors. Ignored lists warnings that the current release does not give.
	Refused []string `json:"refused,omitempty"`
	Ignored []string `json:"ignored,omitempty"`
	// Left lists the data that stays behind.
	Left []string `json:"leftBehind,omitempty"`
	// Clients lists what changes for clients.
	Clients []change.Client `json:"clients,omitempty"`
	// Changes lists all differences.
	Changes []plan.Difference `json:"changes,omitempty"`

	// own lists the differences that a field of the spec causes, and base all others. remarks are warnings without a
	// field.
	own, base []plan.Difference
	remarks   []string
	// waits reports whether an action is about data.
	waits bool
}

// Result is a report in a few words.
type Result string

// The results.
const (
	Starts        Result = "starts"
	WouldNotStart Result = "would not start"
	Pinned        Result = "pinned"
	Deleting      Result = "being deleted"
	NotKnown      Result = "not known"
)

// Action is something that the user has to do.
type Action struct {
	// Field is the field of the spec that the action is about.
	Field string `json:"field,omitempty"`
	// Problem is what is wrong, and Remedy what to do.
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
	// Stops reports whether the server does not start, or the pods are not replaced, without the action.
	Stops bool `json:"stops"`
	// Already reports whether the release that runs has the same problem.
	Already bool `json:"already,omitempty"`
}

// Of returns the report for a stack.
func Of(in Input) Report {
	r := Report{Namespace: in.Namespace, Stack: in.Name, File: in.File, To: in.To}
	if in.Before.Plan != nil {
		r.From = in.Before.Plan.Release()
	}
	switch {
	case in.Deleting:
		r.Result, r.Boots = Deleting, true
		return r
	case in.Image != "":
		r.Result, r.Boots = Pinned, true
		r.Pinned = fmt.Sprintf("pinned to image %q: the operator does not change its release", in.Image)
		return r
	case len(in.Unknown) > 0:
		r.Result, r.Unknown = NotKnown, in.Unknown
		return r
	}
	r.Refused, r.Left, r.Boots, r.Result = in.After.Errors, in.After.Left, true, Starts
	if len(r.Refused) > 0 {
		r.Boots, r.Result = false, WouldNotStart
	}
	for _, warning := range in.After.Warnings {
		if !slices.Contains(in.Before.Warnings, warning) {
			r.Ignored = append(r.Ignored, warning)
		}
	}
	r.act(in)
	if in.Before.Plan != nil && in.After.Plan != nil {
		r.compare(in.Before.Plan, in.After.Plan)
	}
	return r
}

// act collects the actions: errors first, then settings without effect.
func (r *Report) act(in Input) {
	for _, text := range r.Refused {
		action := newAction(text)
		action.Stops, action.Already = true, slices.Contains(in.Before.Errors, text)
		r.Actions = append(r.Actions, action)
	}
	for _, text := range r.Ignored {
		if action := newAction(text); action.Field != "" {
			r.Actions = append(r.Actions, action)
		} else {
			r.remarks = append(r.remarks, text)
		}
	}
	if in.Before.Plan == nil || in.After.Plan == nil {
		return
	}
	image := in.After.Plan.Image()
	if image == in.Before.Plan.Image() && in.After.Plan.Release() != in.Before.Plan.Release() {
		r.Actions = append(r.Actions, Action{
			Field: "image-overrides",
			Problem: fmt.Sprintf("the image stays %q, because an administrator put it in the place of the "+
				"operator's image for every release", image),
			Remedy: "ask the administrator for an image of release " + in.To + " in the operator's ConfigMap",
		})
	}
}

// newAction splits a message into the field, the problem and the remedy.
func newAction(text string) Action {
	action := Action{Problem: text}
	if field, rest, found := strings.Cut(text, ": "); found && isField(field) {
		action.Field, action.Problem = field, rest
	}
	if problem, remedy, found := strings.Cut(action.Problem, "; "); found {
		action.Problem, action.Remedy = problem, remedy
	}
	return action
}

func isField(text string) bool {
	return (strings.HasPrefix(text, "spec") || strings.HasPrefix(text, "metadata")) && !strings.Contains(text, " ")
}

// compare collects the differences between two plans.
func (r *Report) compare(before, after *plan.Plan) {
	waiting, _ := after.Waiting()
	r.waits = len(waiting) > 0
	origins := plan.Origins(before, after)
	for _, one := range plan.Compare(before, after) {
		origin, _, _ := strings.Cut(origins[one.What], " ")
		one.From, one.To = change.Redact(one.What, one.From), change.Redact(one.What, one.To)
		one.What = change.RedactPath(one.What)
		r.Changes = append(r.Changes, one)
		switch {
		case strings.HasSuffix(one.What, forClients):
		case isField(origin) || strings.HasPrefix(one.What, "image"):
			r.own = append(r.own, one)
		default:
			r.base = append(r.base, one)
		}
	}
	for _, client := range change.Clients(before, after) {
		// The base may add many models. Nothing changes for a client that does not ask for them.
		if client.From != "" || !strings.HasPrefix(client.What, "model ") {
			r.Clients = append(r.Clients, client)
		}
	}
}

// forClients ends the name of a difference that Clients contains.
const forClients = " for clients"

// NeedsAction reports whether the user has to do or to decide something.
func (r *Report) NeedsAction() bool {
	return len(r.Actions)+len(r.Left)+len(r.Unknown) > 0
}
