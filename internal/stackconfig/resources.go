package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// The kinds of resources as the server's lists are called.
const (
	kindModels     = "models"
	kindShields    = "shields"
	kindToolGroups = "tool_groups"
)

// resources registers the user's models, tools and shields, beside the base's;
// the same kind and id replaces the base's (API.md 4.3). Each names its provider:
// the server silently skips one that does not.
//
// It returns the user's models as clients call them, and whether the user registers anything that the server keeps.
func resources(d *draft) (models []PublicModel, registers bool) {
	r := registry{draft: d, written: map[string]*field.Path{}}
	for i := range d.in.Models {
		r.model(&d.in.Models[i])
	}
	for i := range d.in.Tools {
		r.tool(&d.in.Tools[i])
	}
	for i := range d.in.Shields {
		r.shield(&d.in.Shields[i])
	}
	r.defaults()
	return r.models, r.registers
}

// registry writes resources; written remembers the user's own by kind and id.
type registry struct {
	*draft
	written map[string]*field.Path
	// models are the user's as clients call them; registers says that the server keeps some of the resources.
	models    []PublicModel
	registers bool
	// first is the id of the first resource the user registered of a kind.
	first map[string]firstOf
}

type firstOf struct {
	id   string
	path *field.Path
}

// resource is one entry in the making.
type resource struct {
	release.Resource
	id    string
	path  *field.Path
	entry *yaml.Node
	// public tells the user's own entries apart: two with one name may stand side
	// by side when their providers differ.
	public string
}

// newResource begins an entry with its id. A kind that the release does not have
// is an error.
func (r *registry) newResource(kind, id string, path *field.Path) (*resource, bool) {
	known, ok := r.rel.Resource(kind)
	if !ok {
		r.failf(path, "the server release %s registers no %s%s", r.rel.Line, kind, r.gone("resource", kind))
		return nil, false
	}
	if known.Dropped {
		r.failf(path, "the server release %s reads %s and drops them; %s", r.rel.Line, kind, known.Instead)
		return nil, false
	}
	entry := yamlnode.Map()
	r.write(under(entry, known.IDKey), yamlnode.String(id), from(path))
	return &resource{Resource: known, id: id, path: path, entry: entry, public: id}, true
}

// provider ties a resource to a provider: the one that is named, else the first
// one of its API (FR-040, FR-041, FR-044). False when there is none, or when the
// user disabled it.
func (r *registry) provider(res *resource, name string, path *field.Path) bool {
	e, ok := r.choose(res.API, name, path)
	if !ok {
		return false
	}
	if name != "" && !e.enabled {
		r.warnf(path, "provider %q exists only when the variable %s is set; without it the server leaves %q out", name, e.condition, res.id)
	}
	origin := from(path)
	if name == "" {
		r.chosen(res, e)
		origin = derived(res.path, "first "+apiField(res.API)+" provider")
	}
	r.write(under(res.entry, "provider_id"), yamlnode.String(e.text), origin)
	res.public = e.id + "/" + res.id
	return true
}

// chosen warns of a model where the base has several providers and the user named none: the first one need not be the one
// that is meant. One that exists because the user set its variable is.
func (r *registry) chosen(res *resource, e *entry) {
	others := 0
	for _, other := range r.index.of(res.API) {
		if other.enabled && !r.off.has(res.API, other.id) {
			others++
		}
	}
	if res.Kind == kindModels && e.user == nil && e.condition == "" && others > 1 {
		r.warnf(res.path, "%q goes to the provider %q of the distribution, the first of %d: spec.providers.%s has none; configure the provider that is meant there, or name one in provider",
			res.id, e.id, others, apiField(res.API))
	}
}

// choose finds the provider of a resource.
func (r *registry) choose(api, name string, path *field.Path) (*entry, bool) {
	if item := r.off.apis[api]; item != nil {
		r.ignored(path, "the API %s is disabled by %s, so this is left out", apiField(api), item.Path)
		return nil, false
	}
	if name == "" {
		if e := r.firstProvider(api); e != nil {
			return e, true
		}
		if r.hasDependent(api) {
			r.ignored(path, "no provider of the API %s is left, so this is left out", apiField(api))
			return nil, false
		}
		r.notFound(path, "", fmt.Sprintf("needs a provider of the API %s, and none is configured; add one to spec.providers.%s", apiField(api), apiField(api)))
		return nil, false
	}
	if item := r.off.by(api, name); item != nil {
		r.ignored(path, "provider %q is disabled by %s, so this is left out", name, item.Path)
		return nil, false
	}
	if e := r.index.find(api, name); e != nil {
		return e, true
	}
	r.notFound(path, name, fmt.Sprintf("%q is not a configured %s provider; available: %s", name, apiField(api), r.available(api)))
	return nil, false
}

// firstProvider is the user's first one in list order, else the base's first
// that is enabled (FR-040).
func (r *registry) firstProvider(api string) *entry {
	for i := range r.in.Providers {
		p := &r.in.Providers[i]
		if p.API != api || r.off.has(api, p.ID) {
			continue
		}
		if e := r.index.find(api, p.ID); e != nil {
			return e
		}
	}
	for _, e := range r.index.of(api) {
		if e.enabled && !r.off.has(api, e.id) {
			return e
		}
	}
	return nil
}

// notFound is the kind of error that status calls MissingProviderForResource.
func (r *registry) notFound(path *field.Path, value, detail string) {
	err := field.NotFound(path, value)
	err.Detail = detail
	r.fail(err)
}

// register puts an entry into its list: over the base's of the same id, once if
// the user wrote it twice.
func (r *registry) register(res *resource) {
	key := res.Kind + "\x00" + res.public
	if other, twice := r.written[key]; twice {
		r.twice(res, other)
		return
	}
	list := r.listOf(res)
	at := endOf(list)
	if !r.ownID(res) {
		for i, item := range list.Content {
			if id, _ := envref.Static(yamlnode.Text(item, res.IDKey)); id == res.id {
				at = itemOf(list, i)
			}
		}
	}
	r.write(at, res.entry, from(res.path))
	r.registers = r.registers || res.Section == release.RegisteredResources
	r.written[key] = res.path
	r.written[res.Kind+"\x01"+res.id] = res.path
	if _, ok := r.first[res.Kind]; !ok {
		if r.first == nil {
			r.first = map[string]firstOf{}
		}
		r.first[res.Kind] = firstOf{id: res.id, path: res.path}
	}
}

// ownID says whether the user registered that id already, with another provider.
func (r *registry) ownID(res *resource) bool { return r.written[res.Kind+"\x01"+res.id] != nil }

// twice: the same entry again is one entry, another one under the same id is an
// error.
func (r *registry) twice(res *resource, other *field.Path) {
	for _, item := range yamlnode.Items(r.listOf(res)) {
		if origin := r.originOf(item); origin.Path == other && yamlnode.Equal(item, res.entry) {
			return
		}
	}
	r.failf(res.path, "%q is registered by %s too, and differently; keep one of them", res.id, other)
}

func (r *registry) listOf(res *resource) *yaml.Node {
	parent := r.root
	if res.Section != release.TopLevel {
		parent = r.section(r.root, res.Section, from(res.path))
	}
	return r.list(parent, res.Kind, from(res.path))
}

// defaults mends settings that name a resource (safety.default_shield_id). With a
// resource of one's own the server stops at a default that does not exist, and
// the base's is conditional (SERVER.md fact 15).
func (r *registry) defaults() {
	for _, reference := range r.rel.References {
		if reference.Resource == "" || reference.ResourceKey != "." {
			continue
		}
		own, registered := r.first[reference.Resource]
		if registered {
			r.mendDefault(reference, own)
		}
	}
}

func (r *registry) mendDefault(reference release.Reference, own firstOf) {
	keys := strings.Split(reference.Path, ".")
	parent := yamlnode.At(r.root, keys[:len(keys)-1]...)
	last := keys[len(keys)-1]
	named := yamlnode.Text(parent, last)
	if named == "" || r.isRegistered(reference.Resource, named) || r.in.Settings.Decides(keys...) {
		return
	}
	r.write(under(parent, last), yamlnode.String(own.id), derived(own.path, "the base's default does not exist"))
	r.warn(Finding{Path: own.path.String(), ConfigPath: reference.Path, Message: fmt.Sprintf(
		"%s is now %q: the default of the distribution, %q, does not exist unless a variable is set, and the server would not start",
		reference.Path, own.id, named)})
}

// isRegistered says whether a resource exists without any condition that the
// spec does not meet.
func (r *registry) isRegistered(kind, id string) bool {
	known, ok := r.rel.Resource(kind)
	if !ok {
		return false
	}
	return slices.ContainsFunc(yamlnode.Items(r.existing(known)), func(item *yaml.Node) bool {
		itemID, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		return itemID == id && r.registered(known, item)
	})
}
