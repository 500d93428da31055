package change

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
)

// Input is both sides of a comparison, and what is known of the running stack.
type Input struct {
	Namespace, Name string
	// Before is the plan of the running stack. Nil means that the stack does not exist, or that its spec gives no plan.
	Before *plan.Plan
	// After is the plan of the edited stack.
	After *plan.Plan
	// Exists reports whether the stack exists.
	Exists bool
	// Paused reports whether the edited stack is paused. Deleting reports whether the running one is being deleted.
	Paused, Deleting bool
	// Serving is the number of available pods. Nil means that it is not known.
	Serving *int32
	// Held is the operator's message about parts of the pod template that wait for the next change of the pods.
	Held string
	// Open lists what is not known, and why.
	Open []string
	// Rename replaces the fields in messages by those of the version of the manifest. Nil leaves them as they are.
	Rename func(string) string
}

// Change is what an edit changes.
type Change struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// New reports whether the stack does not exist yet.
	New bool `json:"new,omitempty"`
	// Warnings are facts about the whole stack that make the edit ineffective.
	Warnings []string `json:"warnings,omitempty"`
	// Configuration lists the keys of the server's configuration that change.
	Configuration []Key `json:"configuration,omitempty"`
	// Objects lists the objects that change.
	Objects []Object `json:"objects,omitempty"`
	Pods    Pods     `json:"pods"`
	Data    []Data   `json:"data,omitempty"`
	// Clients lists what changes for clients.
	Clients []Client `json:"clients,omitempty"`
	// Open lists what is not known.
	Open []string `json:"open,omitempty"`
}

// Key is a key of the server's configuration that changes.
type Key struct {
	// Path is its place. Ids identify the entries of a list.
	Path string `json:"path"`
	// From and To are its values. Nil means that the key does not exist on that side.
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
	// Origin is the field of the spec, or the base, that the value comes from. For a removed key it is the origin of the
	// value that is removed.
	Origin string `json:"origin"`
}

// Data is data that the change leaves behind.
type Data struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	// Waits reports whether the pods are not replaced until the user accepts the loss.
	Waits bool `json:"waits,omitempty"`
}

// Client is something that clients use and that changes.
type Client struct {
	What string `json:"what"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Of compares both sides.
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
	found.Clients = clients(in.Before, in.After)
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
		found = append(found, "the stack is being deleted; an edit has no effect, and its objects are removed")
	}
	if in.Paused {
		found = append(found, "the stack is paused; the operator applies nothing until you remove the annotation "+
			"llamastack.io/paused")
	}
	return found
}

// configuration compares the configurations key by key. Added keys and changed keys are in the order of the later
// configuration, and removed keys follow.
func configuration(before, after *plan.Plan) []Key {
	was, is := settings(before), settings(after)
	old := make(map[string]plan.Setting, len(was))
	for _, setting := range was {
		old[setting.Path] = setting
	}
	seen := make(map[string]bool, len(is))
	var found []Key
	for _, setting := range is {
		if seen[setting.Path] {
			continue
		}
		seen[setting.Path] = true
		earlier, there := old[setting.Path]
		switch {
		case !there:
			to := Redact(setting.Path, setting.Value)
			found = append(found, Key{Path: RedactPath(setting.Path), To: &to, Origin: setting.Origin})
		case earlier.Value != setting.Value:
			from, to := redactBoth(setting.Path, earlier.Value, setting.Value)
			found = append(found, Key{Path: RedactPath(setting.Path), From: &from, To: &to, Origin: setting.Origin})
		}
	}
	for _, setting := range was {
		if !seen[setting.Path] {
			seen[setting.Path] = true
			from := Redact(setting.Path, setting.Value)
			found = append(found, Key{Path: RedactPath(setting.Path), From: &from, Origin: setting.Origin})
		}
	}
	return found
}

func settings(of *plan.Plan) []plan.Setting {
	if of == nil {
		return nil
	}
	return of.Settings()
}

// data returns the data that the plan leaves behind.
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

// rename replaces the fields in all messages.
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
