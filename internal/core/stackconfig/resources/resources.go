package resources

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// These are the kinds of resources, with the names of the server's lists.
const (
	kindModels     = "models"
	kindShields    = "shields"
	kindToolGroups = "tool_groups"
)

// Register registers the user's models, tools and shields in addition to those of the base. An entry replaces the
// base's entry with the same kind and ID. Each entry except a connector names its provider, because the server silently
// skips any other entry that does not name a provider (server fact 16).
//
// Register returns the user's models with the names that clients use. registers reports whether the server stores some
// of the resources in its registry.
func Register(d *draft.Draft) (models []PublicModel, registers bool) {
	r := registrar{Draft: d, written: map[string]*field.Path{}, first: map[string]firstOf{}}
	for i := range d.Intent.Models {
		r.model(&d.Intent.Models[i])
	}
	for i := range d.Intent.Tools {
		r.tool(&d.Intent.Tools[i])
	}
	for i := range d.Intent.Shields {
		r.shield(&d.Intent.Shields[i])
	}
	r.defaults()
	return r.models, r.registers
}

// registrar writes resources. written maps the kind and ID of each of the user's resources to its field.
type registrar struct {
	*draft.Draft
	written map[string]*field.Path
	// models are the user's models with the names that clients use. registers reports whether the server stores some of
	// the resources in its registry.
	models    []PublicModel
	registers bool
	// first maps each kind to the first resource of that kind that the user registered.
	first map[string]firstOf
}

type firstOf struct {
	id   string
	path *field.Path
}

// resource is one entry while it is being built.
type resource struct {
	release.Resource
	id    string
	path  *field.Path
	entry *yaml.Node
	// public identifies an entry among the user's entries of the same kind. Two entries can have the same ID when their
	// providers differ.
	public string
	// modelType is the type of a model. It is empty for the other kinds.
	modelType string
}

// newResource creates an entry that contains only the ID. It reports an error for a kind that the release does not
// have, or whose entries the server ignores.
func (r *registrar) newResource(kind, id string, path *field.Path) (*resource, bool) {
	known, ok := r.Release.Resource(kind)
	if !ok {
		r.Failf(path, "server release %s does not have the resource kind %s%s", r.Release.Line, kind, r.RemovalNote("resource", kind))
		return nil, false
	}
	if known.Dropped {
		r.Failf(path, "server release %s reads %s and ignores them; %s", r.Release.Line, kind, known.Instead)
		return nil, false
	}
	entry := yamlnode.Map()
	r.Write(draft.Under(entry, known.IDKey), yamlnode.String(id), draft.From(path))
	return &resource{Resource: known, id: id, path: path, entry: entry, public: id}, true
}

// provider assigns a provider to a resource: the named provider or, if the resource names none, the first provider of
// the API (FR-040, FR-041, FR-044). It returns false when there is no such provider, or when the user disabled the
// provider or its API.
func (r *registrar) provider(res *resource, name string, path *field.Path) bool {
	e, ok := r.choose(res.API, name, path)
	if !ok || !r.serves(res, e, name, path) {
		return false
	}
	if name != "" && !e.Enabled {
		r.Warnf(path, "provider %q exists only when the variable %s is set, and without this provider, the server omits %q; set the variable in spec.secretEnv or spec.workload.overrides.env", name, e.Condition, res.id)
	}
	origin := draft.From(path)
	if name == "" {
		r.warnOfChoice(res, e)
		origin = draft.Derived(res.path, "first "+draft.APIField(res.API)+" provider")
	}
	r.Write(draft.Under(res.entry, "provider_id"), yamlnode.String(e.Text), origin)
	res.public = e.ID + "/" + res.id
	return true
}

// serves checks that a provider serves models of a resource's type. A provider that the user does not name is only the
// first one, and is not assigned to such a model.
func (r *registrar) serves(res *resource, e *draft.Provider, name string, path *field.Path) bool {
	switch {
	case res.modelType == "" || e.Kind == nil || len(e.Kind.Serves) == 0 || slices.Contains(e.Kind.Serves, res.modelType):
	case name == "":
		r.notFound(path, "", fmt.Sprintf("is a model of type %s, and %q, the first %s provider, serves only models of type %s; name another provider in the provider field, or set modelType",
			res.modelType, e.ID, draft.APIField(res.API), strings.Join(e.Kind.Serves, ", ")))
		return false
	default:
		r.Warnf(path, "%s serves no models of type %s, so requests for %q fail; name another provider, or correct modelType", e.Kind.Type, res.modelType, res.id)
	}
	return true
}

// warnOfChoice warns about a model without a named provider when its provider is the first of several providers in the
// base, because the user might intend a different provider. A provider that exists because the user set its variable is
// intended. If the user's own provider has an error, the model is meant for that provider.
func (r *registrar) warnOfChoice(res *resource, e *draft.Provider) {
	others := 0
	for _, other := range r.Index.Of(res.API) {
		if other.Enabled && !r.Disabled.Has(res.API, other.ID) {
			others++
		}
	}
	own := slices.ContainsFunc(r.Intent.Providers, func(p intent.Provider) bool {
		return p.API == res.API && !r.Disabled.Has(p.API, p.ID)
	})
	if res.Kind == kindModels && e.User == nil && !own && e.Condition == "" && others > 1 {
		r.Warnf(res.path, "%q is assigned to %q, the first of the %d %s providers of the distribution, because spec.providers.%s does not configure a provider; configure the intended provider in that field, or set the provider field of this model",
			res.id, e.ID, others, draft.APIField(res.API), draft.APIField(res.API))
	}
}

// choose returns the provider of a resource. If it returns false, it has reported the reason as an error or a warning.
func (r *registrar) choose(api, name string, path *field.Path) (*draft.Provider, bool) {
	switch item := r.Disabled.By(api, name); {
	case r.ignoredWithAPI(api, path):
		return nil, false
	case name == "":
		return r.chooseFirst(api, path)
	case item != nil:
		r.Ignoredf(path, "provider %q is disabled by %s, so this entry is ignored; remove one of the two entries", name, item.Path)
		return nil, false
	}
	if e := r.Index.Find(api, name); e != nil {
		return e, true
	}
	detail := fmt.Sprintf("%q is not a configured %s provider; %s", name, draft.APIField(api), r.OfferProviders(api, name))
	if r.Dropped[[2]string{api, name}] {
		detail += fmt.Sprintf("; %s removes this provider from the base configuration: to keep it, "+
			"add it to spec.providers.%s",
			intent.BaseProvidersPath, draft.APIField(api))
	}
	r.notFound(path, name, detail)
	return nil, false
}

// ignoredWithAPI reports whether an entry is ignored because the user disabled its API. It warns about such an entry.
func (r *registrar) ignoredWithAPI(api string, path *field.Path) bool {
	item := r.Disabled.APIs[api]
	if item != nil {
		r.Ignoredf(path, "the API %s is disabled by %s, so this entry is ignored; remove one of the two entries", draft.APIField(api), item.Path)
	}
	return item != nil
}

// chooseFirst returns the provider of a resource that does not name a provider. It reports an error or a warning if no
// provider is available.
func (r *registrar) chooseFirst(api string, path *field.Path) (*draft.Provider, bool) {
	if e := r.firstProvider(api); e != nil {
		return e, true
	}
	if !r.ignoredWithProviders(api, path) {
		r.notFound(path, "", fmt.Sprintf("requires a provider of the API %s, and none is configured; add one to spec.providers.%s", draft.APIField(api), draft.APIField(api)))
	}
	return nil, false
}

// ignoredWithProviders reports whether an entry is ignored because providers of its API were disabled and none remains.
// It warns about such an entry.
func (r *registrar) ignoredWithProviders(api string, path *field.Path) bool {
	ignored := r.HasDependent(api)
	if ignored {
		r.Ignoredf(path, "no provider of the API %s remains, so this entry is ignored; add a provider, or remove the entry", draft.APIField(api))
	}
	return ignored
}

// firstProvider returns the user's first provider in list order or, if there is none, the base's first enabled provider
// (FR-040).
func (r *registrar) firstProvider(api string) *draft.Provider {
	for i := range r.Intent.Providers {
		p := &r.Intent.Providers[i]
		if p.API != api || r.Disabled.Has(api, p.ID) {
			continue
		}
		if e := r.Index.Find(api, p.ID); e != nil {
			return e
		}
	}
	for _, e := range r.Index.Of(api) {
		if e.Enabled && !r.Disabled.Has(api, e.ID) {
			return e
		}
	}
	return nil
}

// notFound reports an error that results in the reason MissingProviderForResource in the status.
func (r *registrar) notFound(path *field.Path, value, detail string) {
	err := field.NotFound(path, value)
	err.Detail = detail
	r.Fail(err)
}

// register writes an entry into its list. It replaces the base's entry with the same ID. An entry that the user wrote
// twice is registered only once.
func (r *registrar) register(res *resource) {
	key := res.Kind + "\x00" + res.public
	if other, twice := r.written[key]; twice {
		r.registeredTwice(res, other)
		return
	}
	list := r.listOf(res)
	at := draft.EndOf(list)
	if !r.ownID(res) {
		for i, item := range list.Content {
			if id, _ := envref.Static(yamlnode.Text(item, res.IDKey)); id == res.id {
				at = draft.ItemOf(list, i)
			}
		}
	}
	r.Write(at, res.entry, draft.From(res.path))
	r.registers = r.registers || res.Section == release.RegisteredResources
	r.written[key] = res.path
	r.written[res.Kind+"\x01"+res.id] = res.path
	if _, ok := r.first[res.Kind]; !ok {
		r.first[res.Kind] = firstOf{id: res.id, path: res.path}
	}
}

// ownID reports whether the user has already registered the resource's ID with another provider.
func (r *registrar) ownID(res *resource) bool { return r.written[res.Kind+"\x01"+res.id] != nil }

// registeredTwice handles a second entry with the same ID. An identical entry is ignored. Any other entry is an error.
func (r *registrar) registeredTwice(res *resource, other *field.Path) {
	for _, item := range yamlnode.Items(r.listOf(res)) {
		if origin := r.OriginOf(item); origin.Path == other && yamlnode.Equal(item, res.entry) {
			return
		}
	}
	r.Failf(res.path, "%q is also registered by %s, with different values; keep one of them", res.id, other)
}

func (r *registrar) listOf(res *resource) *yaml.Node {
	parent := r.Root
	if res.Section != release.TopLevel {
		parent = r.Section(r.Root, res.Section, draft.From(res.path))
	}
	return r.List(parent, res.Kind, draft.From(res.path))
}

// defaults corrects settings that name a default resource (safety.default_shield_id). When any resource of that kind is
// registered, the server does not start if the default resource does not exist. The default resource of the base might
// exist only when a variable is set.
func (r *registrar) defaults() {
	for _, reference := range r.Release.References {
		if reference.Resource == "" || reference.ResourceKey != "." {
			continue
		}
		if own, registered := r.first[reference.Resource]; registered {
			r.replaceDefault(reference, own)
		}
	}
}

func (r *registrar) replaceDefault(reference release.Reference, own firstOf) {
	keys := strings.Split(reference.Path, ".")
	parent := yamlnode.At(r.Root, keys[:len(keys)-1]...)
	last := keys[len(keys)-1]
	named := yamlnode.Text(parent, last)
	if named == "" || r.isRegistered(reference.Resource, named) || r.Intent.Settings.Decides(keys...) {
		return
	}
	r.Write(draft.Under(parent, last), yamlnode.String(own.id),
		draft.Derived(own.path, "the base configuration's default does not exist in this stack"))
	r.Warn(draft.Finding{Path: own.path.String(), ConfigPath: reference.Path, Message: fmt.Sprintf(
		"%s is now %q, because the server does not start with the base configuration's value, %q, which does not exist in this stack; to set another value, use spec.settings",
		reference.Path, own.id, named)})
}

// isRegistered reports whether the server registers a resource with the given kind and ID.
func (r *registrar) isRegistered(kind, id string) bool {
	known, ok := r.Release.Resource(kind)
	if !ok {
		return false
	}
	return slices.ContainsFunc(yamlnode.Items(r.ResourcesOf(known)), func(item *yaml.Node) bool {
		itemID, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		return itemID == id && r.Registers(known, item)
	})
}
