package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// check walks the whole configuration beside the release's data (ENGINE.md 4).
// What would keep the server from starting is an error. What it would silently
// ignore is a warning, if the user wrote it: a base may hold keys of its own.
// taken are the paths that settings took out, with the entry that did. It returns the directories that have to exist
// before the server starts.
func check(d *draft, taken map[string]*field.Path) []string {
	c := checker{draft: d, finder: newFinder(d), choices: make(map[string]string), taken: taken}
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
	*draft
	finder
	// choices are the providers of an API as messages list them.
	choices map[string]string
	// taken are the paths that the user took out of the configuration, with the entry that did.
	taken map[string]*field.Path
}

// available is the same for each error: no provider comes or goes any more.
func (c *checker) available(api string) string {
	text, known := c.choices[api]
	if !known {
		text = c.draft.available(api)
		c.choices[api] = text
	}
	return text
}

// apis: an unknown name stops the server, and so does an API without a provider
// where it cannot do without.
func (c *checker) apis() {
	providers := yamlnode.Get(c.root, "providers")
	for i, item := range yamlnode.Items(yamlnode.Get(c.root, "apis")) {
		api, known := c.rel.API(item.Value)
		path := fmt.Sprintf("apis[%d]", i)
		switch {
		case !known:
			c.failAt(path, func() string {
				return fmt.Sprintf("the server release %s has no API %q%s", c.rel.Line, item.Value, c.otherRelease(item.Value))
			})
		case api.NeedsProvider && yamlnode.Len(yamlnode.Get(providers, item.Value)) == 0:
			c.failAt(path, func() string {
				return fmt.Sprintf("%q has no provider, and the server does not start without one; add one to spec.providers.%s or disable the API",
					item.Value, apiField(item.Value))
			})
		}
	}
	for i := 0; i+1 < len(providers.Content); i += 2 {
		name := providers.Content[i].Value
		if api, known := c.rel.API(name); !known || !api.Providable {
			c.failAt("providers."+name, func() string {
				return fmt.Sprintf("the server release %s has no API %q with providers%s", c.rel.Line, name, c.otherRelease(name))
			})
		}
	}
}

// sections checks everything that is not a provider's config.
func (c *checker) sections() {
	problems := c.rel.TopLevel.Check(c.root)
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
	seen := make(map[[2]string]bool, len(c.index.entries))
	at := make(map[string]int)
	for _, e := range c.index.entries {
		path := fmt.Sprintf("providers.%s[%d]", e.api, at[e.api])
		at[e.api]++
		key := [2]string{e.api, e.id}
		if seen[key] && e.enabled {
			c.warn(Finding{ConfigPath: path, Message: fmt.Sprintf("the id %q is there twice, and the server takes the last one", e.id)})
		}
		seen[key] = true
		if e.kind == nil || !e.enabled {
			continue
		}
		if e.kind.Broken != "" {
			c.failAt(path, func() string {
				return fmt.Sprintf("%s does not start in the server release %s; %s, and take this one away with %s/%s in spec.disabled",
					e.kind.Type, c.rel.Line, e.kind.Broken, apiField(e.api), e.id)
			})
			continue
		}
		problems := e.kind.Config.Check(c.withVariables(yamlnode.Get(e.node, "config")))
		for i := range problems {
			c.providerProblem(e, &problems[i], path+".config")
		}
	}
}

// scoring: two providers of one type register the same scoring functions, and the
// server stops at the second (SERVER.md fact 15).
func (c *checker) scoring() {
	if c.rel.Runtime.RegistryReplaces {
		return
	}
	first := make(map[[2]string]*entry)
	for _, e := range c.index.entries {
		if api, _ := c.rel.API(e.api); api.RoutingTable != "scoring_functions" || !e.enabled {
			continue
		}
		key := [2]string{e.api, e.providerType}
		other := first[key]
		if other == nil {
			first[key] = e
			continue
		}
		if e.user != nil && e.id != other.id {
			c.failf(e.user.Path, "%s is the type of %q already, both register the same functions, and the server does not start; "+
				"give this one the id %q, or disable %s/%s", e.providerType, other.id, other.id, apiField(e.api), other.id)
		}
	}
}

// providerProblem says what the user can do: a missing key has a field of its own
// when it is the endpoint or the credential.
func (c *checker) providerProblem(e *entry, p *schema.Problem, path string) {
	if e.user != nil && c.fromUnset(joinPath(path, p.Path)) {
		c.unsetKey(e, p, joinPath(path, p.Path))
		return
	}
	if p.Kind != schema.MissingKey || e.user == nil {
		c.problem(p, joinPath(path, p.Path))
		return
	}
	if e.incomplete {
		return // the key is missing because its field is wrong, which is said already
	}
	field := e.user.Path
	switch p.Path {
	case e.kind.EndpointKey:
		c.failf(field.Child("endpoint"), "required: %s does not start without an endpoint", e.kind.Type)
	case e.kind.CredentialKey:
		c.failf(field.Child("apiKey"), "required: %s does not start without a credential", e.kind.Type)
	default:
		c.failf(field.Child("settings"), "%s does not start without the key %q (%s); set it here or in secretRefs", e.kind.Type, p.Path, p.Want)
	}
}

// fromUnset reports whether a value of the base is not usable because the variable that it reads is not set.
func (c *checker) fromUnset(path string) bool {
	return c.unset(path) != "" && c.originAt(path) == fromBase
}

// unsetKey is what a user's provider took over from the base, and the base takes from a variable that nobody sets: the
// remedy is the field, or that variable.
func (c *checker) unsetKey(e *entry, p *schema.Problem, path string) {
	at, what := e.user.Path.Child("settings"), fmt.Sprintf("the key %q", p.Path)
	switch p.Path {
	case e.kind.EndpointKey:
		at, what = e.user.Path.Child("endpoint"), "an endpoint"
	case e.kind.CredentialKey:
		at, what = e.user.Path.Child("apiKey"), "a credential"
	}
	variable, _ := envref.Lookalike.First(c.nodeAt(path).Value)
	c.failf(at, "required: %s does not start without %s; set it here, or the variable %s, which the base reads, in spec.secretEnv or spec.workload.overrides.env",
		e.kind.Type, what, variable.Name)
}

// problem turns a finding of the release's data into an error or a warning at the
// field that caused it.
func (c *checker) problem(p *schema.Problem, path string) {
	origin := c.originAt(path)
	switch {
	case p.Kind == schema.MissingKey && c.taken[path] != nil:
		c.failf(c.taken[path], "the server does not start without %s (%s): leave it, or set another value in spec.settings", path, p.Want)
	case p.Kind == schema.MissingKey:
		steps := splitPath(path)
		c.failAt(path, func() string {
			return fmt.Sprintf("the required key %q is missing; it takes %s", steps[len(steps)-1], p.Want)
		})
	case p.Fatal:
		c.failAt(path, func() string { return p.Message() + c.unset(path) })
	case origin.Path != nil && c.warningsFull():
		c.countWarning() // a message takes more time than all the rest
	case origin.Path != nil:
		c.warn(Finding{Path: origin.Path.String(), ConfigPath: path, Message: c.elsewhere(p, path)})
	}
}

// lost are the parts of a base that this release ignores and another one reads: they had an effect where they come from.
// What no release knows is the base's own affair.
func (c *checker) lost(p *schema.Problem) {
	if p.Kind != schema.UnknownKey || c.originAt(p.Path).Path != nil || yamlnode.Len(c.nodeAt(p.Path)) == 0 {
		return
	}
	known := c.elsewhere(p, p.Path)
	if known != p.Message() {
		c.warn(Finding{ConfigPath: p.Path, Message: known})
	}
}

// elsewhere is the message of a problem. Of a section that other releases have it
// says which, and what took its place where it is gone.
func (c *checker) elsewhere(p *schema.Problem, path string) string {
	if p.Kind != schema.UnknownKey {
		return p.Message()
	}
	gone := c.gone("section", path)
	if kind, ok := strings.CutPrefix(path, release.RegisteredResources+"."); ok {
		gone = c.gone("resource", kind)
	}
	if gone != "" {
		return fmt.Sprintf("the server release %s has no %s and ignores it%s", c.rel.Line, path, gone)
	}
	if lines := release.LinesWithKey(path); len(lines) > 0 {
		return fmt.Sprintf("the server release %s has no %s and ignores it; releases that have it: %s",
			c.rel.Line, path, strings.Join(lines, ", "))
	}
	return p.Message()
}

// failAt is an error at a place of the configuration: at the field that wrote it,
// else at the place itself, for the base did. The message is made only when it is
// told.
func (c *checker) failAt(path string, message func() string) {
	origin := c.originAt(path)
	isWarning := origin.Path == nil && c.unknown
	if !isWarning && c.errorsFull() {
		c.fail(&field.Error{Type: field.ErrorTypeInvalid})
		return
	}
	if isWarning && c.warningsFull() {
		c.countWarning()
		return
	}
	if origin.Path != nil {
		c.fail(field.Invalid(origin.Path, field.OmitValueType{}, message()))
		return
	}
	from := origin.Note
	if origin == fromBase {
		from = "in the base configuration"
	}
	if isWarning {
		c.warn(Finding{ConfigPath: path, Message: message() + " (" + from + "; the release of the server is not known)"})
		return
	}
	c.fail(&field.Error{
		Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{},
		Detail: message() + " (" + from + ")",
	})
}

// dependencies: the server does not start when an API that a provider needs is
// not there.
func (c *checker) dependencies() {
	for _, m := range c.missingAPIs() {
		c.failAt(c.pathOf(m.by[0]), func() string {
			return fmt.Sprintf("%s needs the API %s; add a provider to spec.providers.%s",
				m.names(), apiField(m.api), apiField(m.api))
		})
	}
}

// pathOf is the place of a provider in the configuration.
func (c *checker) pathOf(e *entry) string {
	for i, item := range yamlnode.Items(yamlnode.At(c.root, "providers", e.api)) {
		if item == e.node {
			return fmt.Sprintf("providers.%s[%d]", e.api, i)
		}
	}
	return "providers." + e.api
}

// authentication: nobody would find out that the server is ready where the health
// check asks for a token, and the pod would be restarted for ever.
func (c *checker) authentication() {
	if c.rel.Runtime.HealthNeedsToken && !yamlnode.IsNull(yamlnode.At(c.root, "server", "auth")) {
		c.failAt("server.auth", func() string {
			return fmt.Sprintf(
				"makes the server release %s ask for a token at its health check too, which no probe has, so that it would never be ready: remove it, or run 0.3 or a later release",
				c.rel.Line)
		})
	}
}

// backends: every reference must name a backend, and a store one of its family.
func (c *checker) backends() {
	storage := yamlnode.Get(c.root, "storage")
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
		known, ok := c.rel.Storage.Store(name)
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
	c.backendsIn(c.root, "", named)
}

// stores: some releases do not start without some of them.
func (c *checker) stores() {
	for i := range c.rel.Storage.Stores {
		if store := &c.rel.Storage.Stores[i]; store.Required && c.lacks(store) {
			c.problem(&schema.Problem{Kind: schema.MissingKey, Want: "a mapping", Fatal: true}, store.Path)
		}
	}
}

// backendTypes checks each backend against its type.
func (c *checker) backendTypes(backends *yaml.Node) {
	for i := 0; backends != nil && i+1 < len(backends.Content); i += 2 {
		path, backend := backendsPath+backends.Content[i].Value, backends.Content[i+1]
		kind, known := c.rel.Storage.Backend(yamlnode.Text(backend, "type"))
		if !known {
			c.failAt(path, func() string {
				return fmt.Sprintf("%q is not a type of backend in release %s; known are %s",
					yamlnode.Text(backend, "type"), c.rel.Line, strings.Join(c.backendNames(), ", "))
			})
			continue
		}
		problems := kind.Class.Check(c.withVariables(backend))
		for i := range problems {
			c.problem(&problems[i], joinPath(path, problems[i].Path))
		}
	}
}

func (c *checker) backendNames() []string {
	names := make([]string, 0, len(c.rel.Storage.Backends))
	for i := range c.rel.Storage.Backends {
		names = append(names, c.rel.Storage.Backends[i].Type)
	}
	return names
}

func (c *checker) backendsIn(node *yaml.Node, path string, backends *yamlnode.Fields) {
	if node == backends.Mapping() {
		return
	}
	if node.Kind == yaml.MappingNode {
		if name := yamlnode.Text(node, "backend"); name != "" && !envref.In(name) && backends.Get(name) == nil {
			c.failAt(joinPath(path, "backend"), func() string {
				return fmt.Sprintf("%q is not a backend in storage.backends; there are %s", name, listed(yamlnode.Keys(backends.Mapping())))
			})
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if len(node.Content[i+1].Content) > 0 {
				c.backendsIn(node.Content[i+1], joinPath(path, node.Content[i].Value), backends)
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
	for _, known := range c.rel.Resources() {
		if known.Dropped {
			c.dropped(known)
		}
		if known.API == "" || known.Dropped {
			continue
		}
		c.publicIDs(known)
		for i, item := range yamlnode.Items(c.existing(known)) {
			text := yamlnode.Text(item, "provider_id")
			id, condition := envref.Static(text)
			if text == "" || id == disabledID || id == known.AnyProvider || !c.met(condition) || c.index.find(known.API, id) != nil || envref.In(id) {
				continue
			}
			c.failAt(itemPath(known, i)+".provider_id", func() string {
				return fmt.Sprintf("%q is not a provider of the API %s; available: %s", id, apiField(known.API), c.available(known.API))
			})
		}
	}
}

// dropped: the server reads the list and empties it. It is the base's, for the user's are refused.
func (c *checker) dropped(known release.Resource) {
	if yamlnode.Len(c.existing(known)) > 0 {
		c.warn(Finding{ConfigPath: joinPath(known.Section, known.Kind), Message: fmt.Sprintf(
			"the server release %s reads the base's %s and drops them; %s", c.rel.Line, known.Kind, known.Instead)})
	}
}

// references: a setting that names a provider must name one that exists; one that
// is the id of a resource, one of those that are registered.
func (c *checker) references() {
	for _, reference := range c.rel.References {
		setting := yamlnode.At(c.root, strings.Split(reference.Path, ".")...)
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
		id := named(setting, reference.ProviderKey)
		if id != "" && !envref.In(id) && c.index.find(reference.API, id) == nil {
			c.failAt(reference.Path, func() string {
				return fmt.Sprintf("names the %s provider %q, which does not exist; available: %s", apiField(reference.API), id, c.available(reference.API))
			})
		}
	}
}

// modelReference warns of a model that the user names and nothing registers. A provider may list it by itself.
func (c *checker) modelReference(reference release.Reference, setting *yaml.Node) {
	provider, model := named(setting, reference.ProviderKey), named(setting, reference.ResourceKey)
	known, ok := c.rel.Resource(reference.Resource)
	base := yamlnode.At(c.base, strings.Split(reference.Path, ".")...)
	if !ok || model == "" || envref.In(model) || c.originAt(reference.Path).Path == nil ||
		!yamlnode.IsNull(base) && named(base, reference.ProviderKey) == provider && named(base, reference.ResourceKey) == model {
		return
	}
	for _, item := range yamlnode.Items(c.existing(known)) {
		id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		by, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		if (id == model || yamlnode.Text(item, known.ProviderIDKey) == model) && by == provider {
			return
		}
	}
	c.warnf(c.originAt(reference.Path).Path,
		"no model %q of the provider %q is registered, and the server does without %s, or does not start, unless the provider lists it; add it to spec.resources.models",
		model, provider, reference.Path)
}

// resourceReference: the server does not start with a default shield that is none
// of the shields it has; without any shield it does not look (core/stack.py,
// validate_safety_config).
func (c *checker) resourceReference(reference release.Reference, setting *yaml.Node) {
	id := named(setting, reference.ResourceKey)
	known, ok := c.rel.Resource(reference.Resource)
	if !ok || id == "" || envref.In(setting.Value) {
		return
	}
	if !c.serves(known.API) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("needs the API %s; add a provider to spec.providers.%s", apiField(known.API), apiField(known.API))
		})
		return
	}
	var ids []string
	for _, item := range yamlnode.Items(c.existing(known)) {
		if c.registered(known, item) {
			other, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			ids = append(ids, other)
		}
	}
	if len(ids) > 0 && !slices.Contains(ids, id) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("%q is none of the %s, which are %s", id, reference.Resource, listed(ids))
		})
	}
}
