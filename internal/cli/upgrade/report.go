package upgrade

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
)

// Input contains a stack and its plans for both releases.
type Input struct {
	Namespace, Name, File string
	// To is the release to check.
	To string
	// Image is the image in the spec, which determines the release. Empty means that the spec names a distribution.
	Image string
	// Deleting reports whether the stack is being deleted.
	Deleting bool
	// Unknown lists the reasons why the effects are not known.
	Unknown []string
	// Before is the outcome for the current release. After is the outcome for the release to check.
	Before, After dryrun.Outcome
}

// Report describes the effects of a different release on one stack.
type Report struct {
	Namespace string `json:"namespace,omitempty"`
	Stack     string `json:"stack"`
	File      string `json:"file,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to"`
	Boots     bool   `json:"boots"`
	// Result is a summary of the report.
	Result Result `json:"result"`
	// Pinned is the reason why the operator does not change the release of the stack.
	Pinned string `json:"pinned,omitempty"`
	// Unknown lists the reasons why the effects are not known.
	Unknown []string `json:"unknown,omitempty"`
	// Actions lists the necessary actions, the most urgent first.
	Actions []Action `json:"actions,omitempty"`
	// Refused lists the errors. Ignored lists the warnings that the current release does not cause.
	Refused []string `json:"refused,omitempty"`
	Ignored []string `json:"ignored,omitempty"`
	// Left lists the data that the release leaves behind.
	Left []string `json:"leftBehind,omitempty"`
	// Clients lists the changes for clients.
	Clients []change.Difference `json:"clients,omitempty"`
	// Changes lists all differences.
	Changes []change.Difference `json:"changes,omitempty"`

	// own lists the differences in the image and those that a field of the spec causes. base lists the other
	// differences, except those for clients. remarks lists the warnings without a field path.
	own, base []change.Difference
	remarks   []string
	// waits reports whether the rollout waits for a decision about data.
	waits bool
}

// Result is the summary of a report.
type Result string

// These constants are the results of a report.
const (
	Starts        Result = "starts"
	WouldNotStart Result = "would not start"
	Pinned        Result = "pinned"
	Deleting      Result = "being deleted"
	NotKnown      Result = "not known"
)

// Action is an action that the user has to take.
type Action struct {
	// Field is the field of the spec that has the problem.
	Field string `json:"field,omitempty"`
	// Problem describes the problem, and Remedy describes the action.
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
	// Stops reports whether the new pods cannot start without the action.
	Stops bool `json:"stops"`
	// Already reports whether the current release has the same problem.
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
		r.Pinned = fmt.Sprintf("pinned to image %q: the operator does not change the release of the stack", in.Image)
		return r
	case len(in.Unknown) > 0:
		r.Result, r.Unknown = NotKnown, in.Unknown
		return r
	}
	r.examine(in)
	return r
}

// examine adds the effects of the release.
func (r *Report) examine(in Input) {
	r.Refused, r.Left, r.Boots, r.Result = in.After.Errors, in.After.Lost, true, Starts
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
}

// act adds the actions: first those for errors, then those for settings without effect, and then the one for an image
// that is the same for both releases.
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
			Problem: fmt.Sprintf("the image remains %q, because image-overrides in the operator's ConfigMap sets this "+
				"image for every release", image),
			Remedy: "ask an administrator to set an image of release " + in.To + " in the operator's ConfigMap",
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

// compare adds the differences between two plans.
func (r *Report) compare(before, after *plan.Plan) {
	waiting, _ := after.Waiting()
	r.waits = len(waiting) > 0
	differences, origins := change.Plans(before, after)
	for _, one := range differences {
		origin, _, _ := strings.Cut(origins[one.What], " ")
		one.From, one.To = shown(one.What, one.From), shown(one.What, one.To)
		one.What = redact.SettingPath(one.What)
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
		// The base configuration may add many models, which change nothing for existing clients.
		if client.From != "" || !strings.HasPrefix(client.What, "model ") {
			r.Clients = append(r.Clients, client)
		}
	}
}

// reference matches the description of a variable whose value is in a Secret.
var reference = regexp.MustCompile(`^Secret [a-z0-9.-]+, key [\w.-]+$`)

// shown returns the part of a value of a difference that is shown.
func shown(what, value string) string {
	variable, isVariable := strings.CutPrefix(what, "variable ")
	switch {
	case isVariable && reference.MatchString(value):
		return value
	case isVariable:
		fields := map[string]any{"name": variable}
		return fmt.Sprint(redact.Root().At("env").Item(fields).At("value").Value(value))
	case strings.HasPrefix(what, "image"), strings.HasPrefix(what, "provider "), strings.HasSuffix(what, forClients):
		return redact.Text(value)
	default:
		return redact.Setting(what, value)
	}
}

// forClients is the suffix in the names of the differences that Clients contains.
const forClients = " for clients"

// NeedsAction reports whether the stack needs an action or a decision by the user.
func (r *Report) NeedsAction() bool {
	return len(r.Actions)+len(r.Left)+len(r.Unknown) > 0
}
