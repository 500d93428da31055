package provider

import (
	"path"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// These are the prefixes of a full provider type. A bare name such as `vllm` is not a type: the server rejects it
// (server fact 12).
const (
	Remote = "remote::"
	Inline = "inline::"
)

// Type is one provider type of one server release.
type Type struct {
	// API is the API that the type provides, under the server's name for it, for example `vector_io`.
	API string `json:"api"`
	// Type is the full type, for example `remote::vllm`.
	Type string `json:"type"`
	// Config is the class of its `config` mapping: keys, types, defaults, and the handling of unknown keys.
	Config *schema.Class `json:"config"`
	// Broken is the reason why the server of this release does not start if the config contains the type (server fact 13).
	// A message appends this text after "; ". It is empty for nearly all types.
	Broken string `json:"broken,omitempty"`
	// KeptForm names the format of the type's data, if a later release cannot read the format and does not start with such
	// data (server fact 25). It is empty for nearly all types.
	KeptForm string `json:"kept_form,omitempty"`
	// EndpointKey is the key for the user's endpoint, for example `base_url`, `url` or `host`. Empty means that the type
	// has no such key and that an endpoint in the spec is an error.
	EndpointKey string `json:"endpoint_key,omitempty"`
	// EndpointPath is the path, for example `/v1`, that the method Endpoint appends to a URL without a path. Empty means
	// that Endpoint does not change the URL.
	EndpointPath string `json:"endpoint_path,omitempty"`
	// EndpointNeeded reports whether every request fails without a value for EndpointKey, although the server starts.
	EndpointNeeded bool `json:"endpoint_needed,omitempty"`
	// EndpointIgnored reports whether the server ignores EndpointKey and calls the public service (server fact 11).
	EndpointIgnored bool `json:"endpoint_ignored,omitempty"`
	// PortKey is the key for the port when EndpointKey accepts only a host name (pgvector). A scheme or path is then an
	// error. Empty means that the endpoint is a URL.
	PortKey string `json:"port_key,omitempty"`
	// CredentialKey is the key for the API key or password, for example `api_key` or `password`. Empty means that the type
	// has no such key.
	CredentialKey string `json:"credential_key,omitempty"`
	// CredentialOptional reports whether the type has other ways to authenticate: keys of an account, or the identity
	// that the platform assigns to its pods.
	CredentialOptional bool `json:"credential_optional,omitempty"`
	// InMemory reports whether each pod answers from its own memory and reads the type's store only when it starts.
	// Replicas then do not see each other's writes.
	InMemory bool `json:"in_memory,omitempty"`
	// RegionKey is the key for a cloud region, for example `region_name` or `region`. Empty means that the type has no
	// such key.
	RegionKey string `json:"region_key,omitempty"`
	// ResourceIDs are the only names that the provider accepts for its resources. With any other name, the server does not
	// start. The list is empty for nearly all types, which accept any name.
	ResourceIDs []string `json:"resource_ids,omitempty"`
	// RegistersNothing reports whether the provider serves only resources that it defines itself. The server does not
	// start with a configuration that registers a resource with such a provider.
	RegistersNothing bool `json:"registers_nothing,omitempty"`
	// ResourceNeeds is the key that each entry of this provider in the configuration must have. Empty means no such key.
	ResourceNeeds string `json:"resource_needs,omitempty"`
	// Serves are the only types of models that the provider serves. Empty means that this is unknown.
	Serves []string `json:"serves,omitempty"`
	// Lists states which models the provider lists when the server starts. Nil means that this is unknown.
	Lists Lists `json:"lists,omitempty"`
	// RequiredDefaults are values for keys that the type requires and that a user cannot be expected to supply, in the
	// order in which they are written. Defaults replaces their placeholders.
	RequiredDefaults []Default `json:"required_defaults,omitempty"`
	// Requires are the APIs that the server requires to start with this provider.
	Requires []string `json:"requires,omitempty"`
	// Optional are the APIs that the provider uses when they exist.
	Optional []string `json:"optional,omitempty"`
	// Packages are the Python packages that the type needs in addition to those of the server, as requirement strings.
	Packages []string `json:"packages,omitempty"`
	// Service is the host of the public service that the type calls if no endpoint is set, for example
	// `api.anthropic.com`. Empty means that the type calls no public service, or that the default of EndpointKey contains
	// the host.
	Service string `json:"service,omitempty"`
	// ServiceAtStart reports whether the server must reach the host in Service to start.
	ServiceAtStart bool `json:"service_at_start,omitempty"`
	// Downloads is the host, for example `huggingface.co`, from which the type loads missing files when it first needs
	// them. Empty means that the type loads no files.
	Downloads string `json:"downloads,omitempty"`
	// ToolGroup is the tool group, for example `builtin::websearch`, that the server registers for the type without an
	// entry in the configuration. Empty means that the server registers no tool group.
	ToolGroup string `json:"tool_group,omitempty"`
	// Deprecated is the server's advice for a type that will be removed. Empty means that the type is not deprecated.
	Deprecated string `json:"deprecated,omitempty"`
}

// Default is the default value of one key.
type Default struct {
	// Key is the key in the provider's config, for example `persistence`.
	Key string `json:"key"`
	// Value is null, bool, string, json.Number, []any, or Fields for an ordered mapping.
	//
	// In Type.RequiredDefaults, the strings in Value can contain placeholders: {id} (the provider's ID), {table} (the ID
	// as a table name), and {distribution} (the distribution's name, as in `~/.llama/distributions/{distribution}/files`).
	Value any `json:"value"`
}

// Fields is an ordered mapping.
type Fields []Field

// Field is one entry of Fields.
type Field struct {
	Key   string
	Value any
}

// Short returns the type without its prefix: `vllm` for `remote::vllm`.
func (t *Type) Short() string {
	if _, short, ok := strings.Cut(t.Type, "::"); ok {
		return short
	}
	return t.Type
}

// IsRemote reports whether the type calls a service outside the server.
func (t *Type) IsRemote() bool { return strings.HasPrefix(t.Type, Remote) }

// NeedsCredential reports whether the type calls a service that requires a credential when the user sets no endpoint:
// the type has no key for an endpoint, or the default of this key is the URL of a public service.
func (t *Type) NeedsCredential() bool {
	if !t.IsRemote() || t.CredentialKey == "" || t.CredentialOptional {
		return false
	}
	key, ok := t.Config.Key(t.EndpointKey)
	public, _ := key.Default.(string)
	return !ok || strings.HasPrefix(public, "https://")
}

// Secrets returns the names of the first-level keys that hold credentials, in declared order.
func (t *Type) Secrets() []string {
	if t == nil || t.Config == nil {
		return nil
	}
	var names []string
	for i := range t.Config.Keys {
		if t.Config.Keys[i].Secret {
			names = append(names, t.Config.Keys[i].Name)
		}
	}
	return names
}

// Lists contains the names of the models that a provider can list, by the type of the model. A `*` in a name stands for
// any text. The provider lists no model of a type that is not a key.
type Lists map[string][]string

// May reports whether the provider can list a model of a type under a name. It returns true if this is unknown.
func (l Lists) May(modelType, name string) bool {
	// Without slashes, a `*` matches any text, as in the server's search for a part of a name in lower case.
	plain := func(text string) string { return strings.ReplaceAll(strings.ToLower(text), "/", ":") }
	return l == nil || slices.ContainsFunc(l[modelType], func(pattern string) bool {
		matched, err := path.Match(plain(pattern), plain(name))
		return matched && err == nil
	})
}

// MayAny reports whether the provider can list a model of some type under a name. It returns true if this is unknown.
func (l Lists) MayAny(name string) bool {
	for modelType := range l {
		if l.May(modelType, name) {
			return true
		}
	}
	return l == nil
}

// Endpoint returns the value of EndpointKey for an endpoint as the user wrote it. It appends EndpointPath to an http or
// https URL without a path (server fact 10). A URL with a path (even `/`), a query or a fragment is unchanged, and so
// is any string that is not an http or https URL, including an environment reference.
func (t *Type) Endpoint(endpoint string) string {
	if t.EndpointPath == "" || envref.IsMeant(endpoint) {
		return endpoint
	}
	scheme, rest, ok := strings.Cut(endpoint, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return endpoint
	}
	if rest == "" || strings.ContainsAny(rest, "/?#") {
		return endpoint
	}
	return endpoint + t.EndpointPath
}
