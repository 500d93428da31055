package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// Configuration walks the whole configuration beside the release's data (ENGINE.md 4).
// What would keep the server from starting is an error. What it would silently
// ignore is a warning, if the user wrote it: a base may hold keys of its own.
// taken are the paths that settings took out, with the entry that did. It returns the directories that have to exist
// before the server starts.
func Configuration(d *draft.Draft, taken map[string]*field.Path) []string {
	c := checker{Draft: d, Finder: draft.NewFinder(d), choices: make(map[string]string), taken: taken}
	c.variables()
	c.apis()
	c.sections()
	c.providers()
	c.credentials()
	c.dependencies()
	c.backends()
	c.authentication()
	c.registeredResources()
	c.startupModels()
	c.references()
	return c.directories()
}

type checker struct {
	*draft.Draft
	draft.Finder
	// choices are the providers of an API as messages list them.
	choices map[string]string
	// taken are the paths that the user took out of the configuration, with the entry that did.
	taken map[string]*field.Path
}

// available is the same for each error: no provider comes or goes any more.
func (c *checker) available(api string) string {
	text, known := c.choices[api]
	if !known {
		text = c.Draft.AvailableProviders(api)
		c.choices[api] = text
	}
	return text
}

// apis: an unknown name stops the server, and so does an API without a provider
// where it cannot do without.
func (c *checker) apis() {
	providers := yamlnode.Get(c.Root, "providers")
	for i, item := range yamlnode.Items(yamlnode.Get(c.Root, "apis")) {
		api, known := c.Release.API(item.Value)
		path := fmt.Sprintf("apis[%d]", i)
		switch {
		case !known:
			c.failAt(path, func() string {
				return fmt.Sprintf("the server release %s has no API %q%s", c.Release.Line, item.Value, c.OtherRelease(item.Value))
			})
		case api.NeedsProvider && yamlnode.Len(yamlnode.Get(providers, item.Value)) == 0:
			c.failAt(path, func() string {
				return fmt.Sprintf("%q has no provider, and the server does not start without one; add one to spec.providers.%s or disable the API",
					item.Value, draft.APIField(item.Value))
			})
		}
	}
	for i := 0; i+1 < len(providers.Content); i += 2 {
		name := providers.Content[i].Value
		if api, known := c.Release.API(name); !known || !api.Providable {
			c.failAt("providers."+name, func() string {
				return fmt.Sprintf("the server release %s has no API %q with providers%s", c.Release.Line, name, c.OtherRelease(name))
			})
		}
	}
}

// sections checks everything that is not a provider's config.
func (c *checker) sections() {
	problems := c.Release.TopLevel.Check(c.Root)
	for i := range problems {
		// A backend is checked by its type, which says more than "one of these".
		if !strings.HasPrefix(problems[i].Path, backendsPath) {
			c.problem(&problems[i], problems[i].Path)
			c.lost(&problems[i])
		}
	}
}

const backendsPath = "storage.backends."

// providers checks each provider's config against its type. A type that the
// release does not know comes with the image; the server will tell.
func (c *checker) providers() {
	c.scoring()
	seen := make(map[[2]string]bool, len(c.Index.Entries))
	at := make(map[string]int)
	for _, e := range c.Index.Entries {
		path := fmt.Sprintf("providers.%s[%d]", e.API, at[e.API])
		at[e.API]++
		key := [2]string{e.API, e.ID}
		if seen[key] && e.Enabled {
			c.Warn(draft.Finding{ConfigPath: path, Message: fmt.Sprintf("the id %q is there twice, and the server takes the last one", e.ID)})
		}
		seen[key] = true
		if e.Kind == nil || !e.Enabled {
			continue
		}
		if e.Kind.Broken != "" {
			c.failAt(path, func() string {
				return fmt.Sprintf("%s does not start in the server release %s; %s, and take this one away with %s/%s in spec.disabled",
					e.Kind.Type, c.Release.Line, e.Kind.Broken, draft.APIField(e.API), e.ID)
			})
			continue
		}
		problems := e.Kind.Config.Check(c.withVariables(yamlnode.Get(e.Node, "config")))
		for i := range problems {
			c.providerProblem(e, &problems[i], path+".config")
		}
	}
}

// scoring: two providers of one type register the same scoring functions, and the
// server stops at the second (SERVER.md fact 15).
func (c *checker) scoring() {
	if c.Release.Runtime.RegistryReplaces {
		return
	}
	first := make(map[[2]string]*draft.Provider)
	for _, e := range c.Index.Entries {
		if api, _ := c.Release.API(e.API); api.RoutingTable != "scoring_functions" || !e.Enabled {
			continue
		}
		key := [2]string{e.API, e.ProviderType}
		other := first[key]
		if other == nil {
			first[key] = e
			continue
		}
		if e.User != nil && e.ID != other.ID {
			c.Failf(e.User.Path, "%s is the type of %q already, both register the same functions, and the server does not start; "+
				"give this one the id %q, or disable %s/%s", e.ProviderType, other.ID, other.ID, draft.APIField(e.API), other.ID)
		}
	}
}

// providerProblem says what the user can do: a missing key has a field of its own
// when it is the endpoint or the credential.
func (c *checker) providerProblem(e *draft.Provider, p *schema.Problem, path string) {
	if e.User != nil && c.fromUnset(draft.JoinPath(path, p.Path)) {
		c.unsetKey(e, p, draft.JoinPath(path, p.Path))
		return
	}
	if p.Kind != schema.MissingKey || e.User == nil {
		c.problem(p, draft.JoinPath(path, p.Path))
		return
	}
	if e.Incomplete {
		return // the key is missing because its field is wrong, which is said already
	}
	field := e.User.Path
	switch p.Path {
	case e.Kind.EndpointKey:
		c.Failf(field.Child("endpoint"), "required: %s does not start without an endpoint", e.Kind.Type)
	case e.Kind.CredentialKey:
		c.Failf(field.Child("apiKey"), "required: %s does not start without a credential", e.Kind.Type)
	default:
		c.Failf(field.Child("settings"), "%s does not start without the key %q (%s); set it here or in secretRefs", e.Kind.Type, p.Path, p.Want)
	}
}

// fromUnset reports whether a value of the base is not usable because the variable that it reads is not set.
func (c *checker) fromUnset(path string) bool {
	return c.unset(path) != "" && c.OriginAt(path) == draft.FromBase
}

// unsetKey is what a user's provider took over from the base, and the base takes from a variable that nobody sets: the
// remedy is the field, or that variable.
func (c *checker) unsetKey(e *draft.Provider, p *schema.Problem, path string) {
	at, what := e.User.Path.Child("settings"), fmt.Sprintf("the key %q", p.Path)
	switch p.Path {
	case e.Kind.EndpointKey:
		at, what = e.User.Path.Child("endpoint"), "an endpoint"
	case e.Kind.CredentialKey:
		at, what = e.User.Path.Child("apiKey"), "a credential"
	}
	variable, _ := envref.Lookalike.First(c.NodeAt(path).Value)
	c.Failf(at, "required: %s does not start without %s; set it here, or the variable %s, which the base reads, in spec.secretEnv or spec.workload.overrides.env",
		e.Kind.Type, what, variable.Name)
}

// problem turns a finding of the release's data into an error or a warning at the
// field that caused it.
func (c *checker) problem(p *schema.Problem, path string) {
	origin := c.OriginAt(path)
	switch {
	case p.Kind == schema.MissingKey && c.taken[path] != nil:
		c.Failf(c.taken[path], "the server does not start without %s (%s): leave it, or set another value in spec.settings", path, p.Want)
	case p.Kind == schema.MissingKey:
		steps := draft.SplitPath(path)
		c.failAt(path, func() string {
			return fmt.Sprintf("the required key %q is missing; it takes %s", steps[len(steps)-1], p.Want)
		})
	case p.Fatal:
		c.failAt(path, func() string { return p.Message() + c.unset(path) })
	case origin.Path != nil && c.WarningsFull():
		c.CountWarning() // a message takes more time than all the rest
	case origin.Path != nil:
		c.Warn(draft.Finding{Path: origin.Path.String(), ConfigPath: path, Message: c.elsewhere(p, path)})
	}
}

// lost are the parts of a base that this release ignores and another one reads: they had an effect where they come from.
// What no release knows is the base's own affair.
func (c *checker) lost(p *schema.Problem) {
	if p.Kind != schema.UnknownKey || c.OriginAt(p.Path).Path != nil || yamlnode.Len(c.NodeAt(p.Path)) == 0 {
		return
	}
	known := c.elsewhere(p, p.Path)
	if known != p.Message() {
		c.Warn(draft.Finding{ConfigPath: p.Path, Message: known})
	}
}

// elsewhere is the message of a problem. Of a section that other releases have it
// says which, and what took its place where it is gone.
func (c *checker) elsewhere(p *schema.Problem, path string) string {
	if p.Kind != schema.UnknownKey {
		return p.Message()
	}
	gone := c.RemovalNote("section", path)
	if kind, ok := strings.CutPrefix(path, release.RegisteredResources+"."); ok {
		gone = c.RemovalNote("resource", kind)
	}
	if gone != "" {
		return fmt.Sprintf("the server release %s has no %s and ignores it%s", c.Release.Line, path, gone)
	}
	if lines := release.LinesWithKey(path); len(lines) > 0 {
		return fmt.Sprintf("the server release %s has no %s and ignores it; releases that have it: %s",
			c.Release.Line, path, strings.Join(lines, ", "))
	}
	return p.Message()
}

// failAt is an error at a place of the configuration: at the field that wrote it,
// else at the place itself, for the base did. The message is made only when it is
// told.
func (c *checker) failAt(path string, message func() string) {
	origin := c.OriginAt(path)
	isWarning := origin.Path == nil && c.Unknown
	if !isWarning && c.ErrorsFull() {
		c.Fail(&field.Error{Type: field.ErrorTypeInvalid})
		return
	}
	if isWarning && c.WarningsFull() {
		c.CountWarning()
		return
	}
	if origin.Path != nil {
		c.Fail(field.Invalid(origin.Path, field.OmitValueType{}, message()))
		return
	}
	from := origin.Note
	if origin == draft.FromBase {
		from = "in the base configuration"
	}
	if isWarning {
		c.Warn(draft.Finding{ConfigPath: path, Message: message() + " (" + from + "; the release of the server is not known)"})
		return
	}
	c.Fail(&field.Error{
		Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{},
		Detail: message() + " (" + from + ")",
	})
}

// dependencies: the server does not start when an API that a provider needs is
// not there.
func (c *checker) dependencies() {
	for _, m := range MissingAPIs(c.Draft) {
		c.failAt(c.pathOf(m.by[0]), func() string {
			return fmt.Sprintf("%s needs the API %s; add a provider to spec.providers.%s",
				m.Names(), draft.APIField(m.Api), draft.APIField(m.Api))
		})
	}
}

// pathOf is the place of a provider in the configuration.
func (c *checker) pathOf(e *draft.Provider) string {
	for i, item := range yamlnode.Items(yamlnode.At(c.Root, "providers", e.API)) {
		if item == e.Node {
			return fmt.Sprintf("providers.%s[%d]", e.API, i)
		}
	}
	return "providers." + e.API
}

// authentication: nobody would find out that the server is ready where the health
// check asks for a token, and the pod would be restarted for ever.
func (c *checker) authentication() {
	if c.Release.Runtime.HealthNeedsToken && !yamlnode.IsNull(yamlnode.At(c.Root, "server", "auth")) {
		c.failAt("server.auth", func() string {
			return fmt.Sprintf(
				"makes the server release %s ask for a token at its health check too, which no probe has, so that it would never be ready: remove it, or run 0.3 or a later release",
				c.Release.Line)
		})
	}
}

// backends: every reference must name a backend, and a store one of its family.
func (c *checker) backends() {
	storage := yamlnode.Get(c.Root, "storage")
	backends := yamlnode.Get(storage, "backends")
	if yamlnode.IsNull(storage) {
		return
	}
	c.backendTypes(backends)
	c.stores()
	stores, named := yamlnode.Get(storage, "stores"), yamlnode.FieldsOf(backends)
	for i := 0; stores != nil && i+1 < len(stores.Content); i += 2 {
		name, store := stores.Content[i].Value, stores.Content[i+1]
		backend := yamlnode.Text(store, "backend")
		known, ok := c.Release.Storage.Store(name)
		if backend == "" || !ok {
			continue
		}
		family, _, _ := strings.Cut(yamlnode.Text(named.Get(backend), "type"), "_")
		if named.Get(backend) != nil && family != known.Family {
			c.failAt("storage.stores."+name, func() string {
				return fmt.Sprintf("needs a backend of type %s_*, and %q is none", known.Family, backend)
			})
		}
	}
	c.backendsIn(c.Root, "", named)
}

// stores: some releases do not start without some of them.
func (c *checker) stores() {
	for i := range c.Release.Storage.Stores {
		if store := &c.Release.Storage.Stores[i]; store.Required && storage.Lacks(c.Draft, store) {
			c.problem(&schema.Problem{Kind: schema.MissingKey, Want: "a mapping", Fatal: true}, store.Path)
		}
	}
}

// backendTypes checks each backend against its type.
func (c *checker) backendTypes(backends *yaml.Node) {
	for i := 0; backends != nil && i+1 < len(backends.Content); i += 2 {
		path, backend := backendsPath+backends.Content[i].Value, backends.Content[i+1]
		kind, known := c.Release.Storage.Backend(yamlnode.Text(backend, "type"))
		if !known {
			c.failAt(path, func() string {
				return fmt.Sprintf("%q is not a type of backend in release %s; known are %s",
					yamlnode.Text(backend, "type"), c.Release.Line, strings.Join(c.backendNames(), ", "))
			})
			continue
		}
		problems := kind.Class.Check(c.withVariables(backend))
		for i := range problems {
			c.problem(&problems[i], draft.JoinPath(path, problems[i].Path))
		}
	}
}

func (c *checker) backendNames() []string {
	names := make([]string, 0, len(c.Release.Storage.Backends))
	for i := range c.Release.Storage.Backends {
		names = append(names, c.Release.Storage.Backends[i].Type)
	}
	return names
}

func (c *checker) backendsIn(node *yaml.Node, path string, backends *yamlnode.Fields) {
	if node == backends.Mapping() {
		return
	}
	if node.Kind == yaml.MappingNode {
		if name := yamlnode.Text(node, "backend"); name != "" && !envref.In(name) && backends.Get(name) == nil {
			c.failAt(draft.JoinPath(path, "backend"), func() string {
				return fmt.Sprintf("%q is not a backend in storage.backends; there are %s", name, draft.Listed(yamlnode.Keys(backends.Mapping())))
			})
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if len(node.Content[i+1].Content) > 0 {
				c.backendsIn(node.Content[i+1], draft.JoinPath(path, node.Content[i].Value), backends)
			}
		}
		return
	}
	for i, item := range node.Content {
		if len(item.Content) > 0 {
			c.backendsIn(item, fmt.Sprintf("%s[%d]", path, i), backends)
		}
	}
}

// registeredResources: a resource of an unknown provider stops the server; one
// whose condition is not met is skipped.
func (c *checker) registeredResources() {
	for _, known := range c.Release.Resources() {
		if known.Dropped {
			c.dropped(known)
		}
		if known.API == "" || known.Dropped {
			continue
		}
		c.publicIDs(known)
		for i, item := range yamlnode.Items(c.ResourcesOf(known)) {
			text := yamlnode.Text(item, "provider_id")
			id, condition := envref.Static(text)
			if text == "" || id == draft.DisabledID || id == known.AnyProvider || !c.Met(condition) || c.Index.Find(known.API, id) != nil || envref.In(id) {
				continue
			}
			c.failAt(draft.ItemPath(known, i)+".provider_id", func() string {
				return fmt.Sprintf("%q is not a provider of the API %s; available: %s", id, draft.APIField(known.API), c.available(known.API))
			})
		}
	}
}

// dropped: the server reads the list and empties it. It is the base's, for the user's are refused.
func (c *checker) dropped(known release.Resource) {
	if yamlnode.Len(c.ResourcesOf(known)) > 0 {
		c.Warn(draft.Finding{ConfigPath: draft.JoinPath(known.Section, known.Kind), Message: fmt.Sprintf(
			"the server release %s reads the base's %s and drops them; %s", c.Release.Line, known.Kind, known.Instead)})
	}
}

// references: a setting that names a provider must name one that exists; one that
// is the id of a resource, one of those that are registered.
func (c *checker) references() {
	for _, reference := range c.Release.References {
		setting := yamlnode.At(c.Root, strings.Split(reference.Path, ".")...)
		if yamlnode.IsNull(setting) {
			continue
		}
		if reference.ResourceKey == "." {
			c.resourceReference(reference, setting)
		}
		if reference.ProviderKey == "" {
			continue
		}
		c.modelReference(reference, setting)
		id := draft.NamedID(setting, reference.ProviderKey)
		if id != "" && !envref.In(id) && c.Index.Find(reference.API, id) == nil {
			c.failAt(reference.Path, func() string {
				return fmt.Sprintf("names the %s provider %q, which does not exist; available: %s", draft.APIField(reference.API), id, c.available(reference.API))
			})
		}
	}
}

// modelReference warns of a model that the user names and nothing registers. A provider may list it by itself.
func (c *checker) modelReference(reference release.Reference, setting *yaml.Node) {
	provider, model := draft.NamedID(setting, reference.ProviderKey), draft.NamedID(setting, reference.ResourceKey)
	known, ok := c.Release.Resource(reference.Resource)
	base := yamlnode.At(c.Base, strings.Split(reference.Path, ".")...)
	if !ok || model == "" || envref.In(model) || c.OriginAt(reference.Path).Path == nil ||
		!yamlnode.IsNull(base) && draft.NamedID(base, reference.ProviderKey) == provider && draft.NamedID(base, reference.ResourceKey) == model {
		return
	}
	for _, item := range yamlnode.Items(c.ResourcesOf(known)) {
		id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		by, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		if (id == model || yamlnode.Text(item, known.ProviderIDKey) == model) && by == provider {
			return
		}
	}
	c.Warnf(c.OriginAt(reference.Path).Path,
		"no model %q of the provider %q is registered, and the server does without %s, or does not start, unless the provider lists it; add it to spec.resources.models",
		model, provider, reference.Path)
}

// resourceReference: the server does not start with a default shield that is none
// of the shields it has; without any shield it does not look (core/stack.py,
// validate_safety_config).
func (c *checker) resourceReference(reference release.Reference, setting *yaml.Node) {
	id := draft.NamedID(setting, reference.ResourceKey)
	known, ok := c.Release.Resource(reference.Resource)
	if !ok || id == "" || envref.In(setting.Value) {
		return
	}
	if !c.ServesAPI(known.API) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("needs the API %s; add a provider to spec.providers.%s", draft.APIField(known.API), draft.APIField(known.API))
		})
		return
	}
	var ids []string
	for _, item := range yamlnode.Items(c.ResourcesOf(known)) {
		if c.Registers(known, item) {
			other, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			ids = append(ids, other)
		}
	}
	if len(ids) > 0 && !slices.Contains(ids, id) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("%q is none of the %s, which are %s", id, reference.Resource, draft.Listed(ids))
		})
	}
}
