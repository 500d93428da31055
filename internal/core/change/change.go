package change

import (
	"cmp"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// Input contains both sides of a comparison, and facts about the running stack.
type Input struct {
	Namespace, Name string
	// Before is the plan of the running stack. Nil means that the stack does not exist, or that its spec cannot be
	// planned.
	Before *plan.Plan
	// After is the plan of the edited stack.
	After *plan.Plan
	// Exists reports whether the stack exists.
	Exists bool
	// Paused reports whether the edited stack is paused. Deleting reports whether the running stack is being deleted.
	Paused, Deleting bool
	// Serving is the number of available pods. Nil means that the number is not known.
	Serving *int32
	// Held is the operator's message about the pod template changes that it postpones until it next replaces the pods.
	Held string
	// Open lists the facts that are not known, with the reasons.
	Open []string
	// Rename replaces the field paths in messages with the paths in the manifest's API version. Nil means that the paths
	// do not change.
	Rename func(string) string
}

// Change describes the effects of an edit.
type Change struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// New reports whether the stack does not exist yet.
	New bool `json:"new,omitempty"`
	// Warnings lists the reasons why the edit as a whole has no effect.
	Warnings []string `json:"warnings,omitempty"`
	// Configuration lists the keys of the server's configuration that change.
	Configuration []Key `json:"configuration,omitempty"`
	// Objects lists the objects that change.
	Objects []Object `json:"objects,omitempty"`
	Pods    Pods     `json:"pods"`
	Data    []Data   `json:"data,omitempty"`
	// Clients lists the changes for clients.
	Clients []Difference `json:"clients,omitempty"`
	// Open lists the facts that are not known.
	Open []string `json:"open,omitempty"`
}

// Key describes the change to one key of the server's configuration.
type Key struct {
	// Path is the path of the key. IDs identify the entries of a list.
	Path string `json:"path"`
	// From and To are the values of the key before and after the edit. Nil means that the key does not exist on that side.
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
	// Origin is the field of the spec that sets the value, or the base configuration that contains it. For a removed key,
	// Origin is the origin of the removed value.
	Origin string `json:"origin"`
}

// Data describes data that the change leaves behind.
type Data struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	// Waits reports whether the operator replaces the pods only after the user has accepted the loss.
	Waits bool `json:"waits,omitempty"`
}

// Difference is one difference between two plans of a stack, such as a change to a model, an API or an address that
// clients use.
type Difference struct {
	// What describes the part that differs, for example `image`, `variable OGX_PORT`, `provider inference/vllm`, or a path
	// in the configuration. In a path, IDs identify the entries of a list, for example
	// providers.inference[vllm].config.url.
	What string `json:"what"`
	// From and To are the values in the two plans. Empty means that the plan has no such part.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Of compares both sides of the input.
func Of(in Input) (Change, error) {
	found := Change{Namespace: in.Namespace, Name: in.Name, New: !in.Exists, Warnings: warnings(in), Open: in.Open}
	found.Configuration = configuration(in.Before, in.After)
	var err error
	if found.Objects, err = objects(in.Before, in.After); err != nil {
		return found, err
	}
	if found.Pods, err = pods(in, found.Objects); err != nil {
		return found, err
	}
	if found.Pods.replaces {
		found.Data = data(in.After)
	}
	if slices.ContainsFunc(found.Data, func(loss Data) bool { return loss.Waits }) {
		found.Pods.Restart = Blocked
	}
	found.Clients = Clients(in.Before, in.After)
	if in.Rename != nil {
		found.rename(in.Rename)
	}
	return found, nil
}

// Differs reports whether the edit changes anything.
func (c *Change) Differs() bool {
	return c.New || len(c.Configuration)+len(c.Objects)+len(c.Clients) > 0 || c.Pods.Restart == Restarts ||
		c.Pods.Restart == Blocked
}

func warnings(in Input) []string {
	var found []string
	if in.Deleting {
		found = append(found, "the stack and its objects are being deleted, so an edit has no effect")
	}
	if in.Paused {
		found = append(found, "the stack is paused; the operator applies no change until you remove the annotation "+
			"llamastack.io/paused")
	}
	return found
}

// configuration compares the configurations key by key. Added keys and changed keys are in the order of the later
// configuration, and removed keys follow.
func configuration(before, after *plan.Plan) []Key {
	was, is := settings(before), settings(after)
	old := make(map[string]*stackconfig.Explained, len(was))
	for i := range was {
		old[was[i].Named] = &was[i]
	}
	seen := make(map[string]bool, len(is))
	var found []Key
	for i := range is {
		path := is[i].Named
		if earlier := old[path]; !seen[path] && (earlier == nil || earlier.Value != is[i].Value) {
			found = append(found, newKey(earlier, &is[i]))
		}
		seen[path] = true
	}
	for i := range was {
		if path := was[i].Named; !seen[path] {
			seen[path] = true
			found = append(found, newKey(&was[i], nil))
		}
	}
	return found
}

// newKey returns a changed key. The key does not exist before the edit if `was` is nil, and does not exist after the
// edit if `is` is nil.
func newKey(was, is *stackconfig.Explained) Key {
	setting := cmp.Or(is, was)
	key := Key{Path: redact.SettingPath(setting.Named), Origin: setting.Origin}
	var from, to string
	switch {
	case was == nil:
		to = redact.Setting(is.Named, is.Value)
		key.To = &to
	case is == nil:
		from = redact.Setting(was.Named, was.Value)
		key.From = &from
	default:
		from, to = redactBoth(is.Named, was.Value, is.Value)
		key.From, key.To = &from, &to
	}
	return key
}

func settings(of *plan.Plan) []stackconfig.Explained {
	if of == nil {
		return nil
	}
	return of.Settings()
}

// data returns the data that the change leaves behind.
func data(after *plan.Plan) []Data {
	waiting, _ := after.Waiting()
	waits := make(map[string]bool, len(waiting))
	for _, loss := range waiting {
		waits[loss.String()] = true
	}
	var found []Data
	for _, loss := range after.Losses {
		found = append(found, Data{Field: loss.Path, Message: loss.Message, Waits: waits[loss.String()]})
	}
	return found
}

// rename replaces the field paths in all texts.
func (c *Change) rename(name func(string) string) {
	for i := range c.Configuration {
		c.Configuration[i].Origin = name(c.Configuration[i].Origin)
	}
	for i := range c.Data {
		c.Data[i].Field, c.Data[i].Message = name(c.Data[i].Field), name(c.Data[i].Message)
	}
	for i := range c.Clients {
		c.Clients[i].What = name(c.Clients[i].What)
	}
	for _, texts := range [][]string{c.Pods.Why, c.Open, c.Warnings} {
		for i := range texts {
			texts[i] = name(texts[i])
		}
	}
	c.Pods.Preflight = name(c.Pods.Preflight)
}
