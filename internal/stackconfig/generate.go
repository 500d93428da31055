package stackconfig

// step does one job on the draft and never looks at what a later one does.
type step struct {
	name string
	run  func(*draft)
}

// steps are the way from a base to a configuration, in order.
var steps = []step{
	{"resolve", resolve},       // the base's conditional ids; an index of its providers
	{"providers", providers},   // the user's providers, over the base's by id
	{"dependents", dependents}, // what needs an API that is disabled
	{"resources", resources},   // models, tools and shields
	{"storage", storage},       // backends, stores, a registry of the stack's own
	{"tables", tables},         // of key-value stores in PostgreSQL, the same in every release
	{"disable", disable},       // APIs and providers taken away, with what points at them
	{"supply", supply},         // what the base lacks to start
	{"server", server},         // port, host, workers
	{"settings", settings},     // the user's own patch
	{"check", check},           // everything against the release
	{"spellings", spellings},   // an unknown release: what others call the same thing
}

// Generate makes the configuration that Input.Release boots with. It changes
// nothing of its input and gives the same bytes for the same input, always.
// Errors do not stop it, so that all are told at once; with errors the Result is
// nil. The Report is never nil.
func Generate(in Input) (*Result, *Report) {
	d := newDraft(in)
	for _, s := range steps {
		s.run(d)
	}
	return d.finish(), d.report
}
