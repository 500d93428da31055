package intent

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// MaxProviders is the maximum number of providers of one API.
const MaxProviders = 64

// MaxProviderFields is the maximum number of fields of a provider, and of entries in its secretRefs. The admission
// policy has the same limit, because the policy's cost grows with the square of the number of fields or entries.
const MaxProviderFields = 64

// These constants define the form of a provider's ID.
const (
	IDForm      = `^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`
	IDMaxLength = 63
)

var idPattern = regexp.MustCompile(IDForm)

// apiField maps a field of spec.providers to the server's name for the API.
type apiField struct {
	name, api string
	get       func(*v1alpha2.ProvidersSpec) *v1alpha2.Providers
}

// apiFields lists the fields of spec.providers in the order in which the API declares them.
var apiFields = []apiField{
	{"inference", "inference", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Inference }},
	{"safety", "safety", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Safety }},
	{"vectorIo", "vector_io", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.VectorIo }},
	{"toolRuntime", "tool_runtime", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.ToolRuntime }},
	{"telemetry", "telemetry", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Telemetry }},
	{"agents", "agents", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Agents }},
	{"responses", "responses", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Responses }},
	{"files", "files", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Files }},
	{"batches", "batches", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Batches }},
	{"eval", "eval", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Eval }},
	{"scoring", "scoring", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Scoring }},
	{"datasetIo", "datasetio", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.DatasetIo }},
	{"postTraining", "post_training", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.PostTraining }},
	{"fileProcessors", "file_processors", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.FileProcessors }},
	{"messages", "messages", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Messages }},
	{"interactions", "interactions", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Interactions }},
	{"skills", "skills", func(p *v1alpha2.ProvidersSpec) *v1alpha2.Providers { return p.Skills }},
}

// APIFields returns the names of the fields of spec.providers, in declared order.
func APIFields() []string {
	fields := make([]string, len(apiFields))
	for i, f := range apiFields {
		fields[i] = f.name
	}
	return fields
}

// APIField returns the field of spec.providers for an API of the server, for example vectorIo for vector_io. It returns
// an empty string if there is no such field.
func APIField(api string) string {
	for _, f := range apiFields {
		if f.api == api {
			return f.name
		}
	}
	return ""
}

func decodeProviders(spec *v1alpha2.ProvidersSpec, path *field.Path, errs *Errors) []Provider {
	if spec == nil {
		return nil
	}
	var all []Provider
	for _, f := range apiFields {
		if written := f.get(spec); written != nil {
			all = append(all, decodeAPI(f.api, written, path.Child(f.name), errs)...)
		}
	}
	uniqueIDs(all, errs)
	return all
}

// decodeAPI reads the value of one API, which is a single provider or a list of providers (FR-004). It omits entries
// with errors.
func decodeAPI(api string, written *v1alpha2.Providers, path *field.Path, errs *Errors) []Provider {
	value, err := decodeJSON(written.Raw)
	if err != nil {
		errs.Forbidden(path, "is not valid JSON; correct the syntax of the value")
		return nil
	}
	if list, isList := value.([]any); isList {
		return decodeProviderList(api, list, path, errs)
	}
	if provider, ok := decodeProvider(api, value, path, errs); ok {
		return []Provider{provider}
	}
	return nil
}

func decodeProviderList(api string, list []any, path *field.Path, errs *Errors) []Provider {
	switch {
	case len(list) == 0:
		errs.Empty(path)
		return nil
	case len(list) > MaxProviders:
		errs.Forbidden(path, "%d providers exceed the limit of %d for an API: remove some", len(list), MaxProviders)
		return nil
	}
	var providers []Provider
	for i, value := range list {
		entry, before := path.Index(i), len(*errs)
		if fields, ok := value.(map[string]any); ok && len(list) > 1 && fields["id"] == nil {
			errs.Required(entry.Child("id"), "required: each provider needs an ID when an API has more than one")
		}
		if provider, ok := decodeProvider(api, value, entry, errs); ok && len(*errs) == before {
			providers = append(providers, provider)
		}
	}
	return providers
}

func decodeProvider(api string, value any, path *field.Path, errs *Errors) (Provider, bool) {
	before := len(*errs)
	o, ok := newObject(value, path, "a provider ({provider: <type>, …}) or a list of providers", errs)
	if !ok || !o.atMost(MaxProviderFields, "", "secretRefs") {
		return Provider{}, false
	}
	p := Provider{
		API:      api,
		ID:       o.text("id"),
		Type:     o.requiredText("provider", "set the type of the provider, for example vllm or remote::vllm"),
		Endpoint: o.text("endpoint"),
		APIKey:   o.secret("apiKey"),
		Settings: o.values("settings"),
		Path:     path,
	}
	p.Secrets = o.secretKeys()
	p.ID = o.providerID(p.ID, p.Type)
	checkKeys(&p, errs)
	return p, len(*errs) == before
}

// providerID returns the ID of a provider, and checks it. The default (FR-035) is the type or, for a full type, the
// part after the last "::".
func (o *object) providerID(id, providerType string) string {
	path, remedy := o.path.Child("id"), ""
	if _, written := o.fields["id"]; !written {
		id = providerType[strings.LastIndex(providerType, ":")+1:]
		path, remedy = o.path.Child("provider"), "; set a valid ID in the field id"
	}
	if id == "" {
		return ""
	}
	if len(id) > IDMaxLength || !idPattern.MatchString(id) {
		o.InvalidText(path, id, "is not a valid ID: use at most %d letters, digits, '-', '_' and '.', and begin and end with a letter or digit%s",
			IDMaxLength, remedy)
	}
	return id
}

// secretKeys reads secretRefs and its short form: all other keys of the entry whose values are secret references.
func (o *object) secretKeys() []SecretKey {
	var keys []SecretKey
	refs := o.values("secretRefs")
	if _, given := o.fields["secretRefs"]; given && refs != nil && len(refs) == 0 {
		o.Empty(o.path.Child("secretRefs"))
	}
	for _, key := range slices.Sorted(maps.Keys(refs)) {
		path := o.path.Child("secretRefs").Key(key)
		if key == "" {
			o.Forbidden(path, "a key in a provider's configuration must not be empty: "+
				"set the key, or remove the entry")
			continue
		}
		if ref := decodeSecret(refs[key], path, o.Errors); ref != nil {
			keys = append(keys, SecretKey{Key: key, SecretRef: *ref})
		}
	}
	for _, key := range o.rest() {
		if ref := o.shorthand(key); ref != nil {
			keys = append(keys, SecretKey{Key: key, SecretRef: *ref})
		}
	}
	slices.SortStableFunc(keys, func(a, b SecretKey) int { return strings.Compare(a.Key, b.Key) })
	return keys
}

// shorthand reads a key that is not a named field. Its value must be a secret reference. A key that differs from a
// named field only in case is an error.
func (o *object) shorthand(key string) *SecretRef {
	path := o.path.Child(key)
	fields, isObject := o.fields[key].(map[string]any)
	_, isRef := fields["secretKeyRef"]
	misspelled := slices.ContainsFunc(o.asked, func(known string) bool { return strings.EqualFold(known, key) })
	if !isObject || misspelled || (!isRef && !isFlat(fields)) {
		o.unknownProviderField(path, key)
		return nil
	}
	return decodeSecret(fields, path, o.Errors)
}

func (o *object) unknownProviderField(path *field.Path, key string) {
	switch {
	case o.full():
		o.Forbidden(path, "unknown field")
	case nearest(key, o.asked) != "", suggest.Unknown(path.String()) != "":
		o.unknownField(path, key)
	default:
		o.Forbidden(path, "unknown field; known fields: %s; put a key of the provider's own configuration under settings, or, for a secret value, keep the key here and set it to %s",
			o.known(), secretShape)
	}
}

// checkKeys rejects a configuration key that two fields set.
func checkKeys(p *Provider, errs *Errors) {
	for i, secret := range p.Secrets {
		if i > 0 && p.Secrets[i-1].Key == secret.Key {
			errs.Forbidden(secret.Path, "%q is also set by %s; keep one of them", secret.Key, p.Secrets[i-1].Path)
		}
		if _, both := p.Settings[secret.Key]; both {
			errs.Forbidden(p.Path.Child("settings").Child(secret.Key), "%q is also set by %s; keep one of them", secret.Key,
				secret.Path)
		}
	}
}

// uniqueIDs checks FR-072: IDs are unique across all APIs.
func uniqueIDs(providers []Provider, errs *Errors) {
	first := make(map[string]*field.Path, len(providers))
	for _, p := range providers {
		other, taken := first[p.ID]
		if !taken {
			first[p.ID] = p.Path
			continue
		}
		errs.Forbidden(p.Path.Child("id"), "%q is also the ID of %s; provider IDs must be unique across all APIs: give one of the providers another ID", p.ID, other)
	}
}

// API returns the server's name for the API of a field of spec.providers, for example datasetio for datasetIo. It
// returns an empty string if there is no such field.
func API(name string) string {
	for _, f := range apiFields {
		if f.name == name {
			return f.api
		}
	}
	return ""
}
