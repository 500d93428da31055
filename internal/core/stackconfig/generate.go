package stackconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/external"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/offline"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/resources"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// step is one step of the generation. It makes one kind of change to the draft. A step does not depend on later steps.
type step struct {
	name string
	run  func(*run)
}

// run is one run of the steps, with the draft that they share and the results of individual steps.
type run struct {
	Input
	draft *draft.Draft

	models      []resources.PublicModel
	registers   bool
	registry    *storage.Registry
	derived     []secretvalue.Derived
	removed     map[string]*field.Path
	dropped     map[string][]string
	directories []string
	external    []external.Installed
}

// steps lists the steps from a base to a configuration, in order. The comment above each step states what the step
// does.
var steps = []step{
	// resolves the base's conditional IDs, and indexes its providers
	{"resolve", func(r *run) { draft.Resolve(r.draft) }},
	// adds the user's providers, which replace the base's providers with the same IDs
	{"providers", func(r *run) { providers.Apply(r.draft) }},
	// adds the external providers, which have their own images and replace all other providers with the same IDs
	{"external", func(r *run) { r.external = external.Apply(r.draft, r.Packages) }},
	// removes the base's providers that the spec's providers do not need, if the spec requests this
	{"base-providers", func(r *run) { r.dropped = baseProviders(r.draft) }},
	// disables the providers that need a disabled API
	{"dependents", func(r *run) { dependents(r.draft) }},
	// registers models, tools and shields
	{"resources", func(r *run) { r.models, r.registers = resources.Register(r.draft) }},
	// sets backends and stores, with a registry for this stack only
	{"storage", func(r *run) { r.registry, r.derived = storage.Place(r.draft, r.registers) }},
	// names the tables of key-value stores in PostgreSQL, so that the names are the same in every release
	{"tables", func(r *run) { storage.NameTables(r.draft, r.KVTable) }},
	// removes disabled APIs and providers, with the references to them
	{"disable", func(r *run) { disable(r.draft, r.dropped) }},
	// adds the stores and APIs that the server needs to start
	{"add-missing", func(r *run) {
		addAPIs(r.draft)
		storage.AddRequired(r.draft) // an added API may require a further store
	}},
	// sets the port, the host and the workers
	{"server", func(r *run) { server(r.draft) }},
	// applies the settings and removeSettings of the spec
	{"settings", func(r *run) { r.removed = settings(r.draft) }},
	// checks the whole configuration against the data of the release
	{"check", func(r *run) { r.directories = check.Configuration(r.draft, r.removed) }},
	// finds the parts that need the internet, for an offline cluster
	{"offline", func(r *run) { offline.Check(r.draft) }},
	// adds the names that other releases use, if the release is unknown
	{"aliases", func(r *run) { aliases(r.draft) }},
}

// Generate returns the configuration with which a server of the release Input.Release starts. It does not change its
// input, and the same input always results in the same bytes. It continues after an error, so that the Report lists as
// many errors as its limit allows. With errors, the Result is nil. The Report is never nil.
func Generate(in Input) (*Result, *draft.Report) {
	r := &run{Input: in, draft: draft.New(in.Base, in.Intent, in.Release, in.Directory)}
	r.draft.Unknown, r.draft.Published, r.draft.OwnBase = in.ReleaseUnknown, in.Published, in.OwnBase
	for _, s := range steps {
		s.run(r)
	}
	report := r.draft.Finish()
	if len(report.Errors) > 0 {
		return nil, report
	}
	return r.result(), report
}

// result returns the Result of a run without errors, with the encoded configuration and its hash.
func (r *run) result() *Result {
	d := r.draft
	config := yamlnode.Encode(d.Root, header(d))
	sum := sha256.Sum256(config)
	slices.SortFunc(r.derived, func(a, b secretvalue.Derived) int { return strings.Compare(a.Key, b.Key) })
	return &Result{
		Config:        config,
		Hash:          hex.EncodeToString(sum[:]),
		Env:           d.Variables(),
		Derived:       r.derived,
		Directories:   r.directories,
		Registry:      r.registry,
		Models:        r.models,
		External:      r.external,
		Dropped:       d.Dropped,
		ProviderCount: providerCount(d),
		ResourceCount: resourceCount(d),
		ServesTLS:     servesTLS(d.Root),
		ConfigVersion: r.Base.Version(),
	}
}
