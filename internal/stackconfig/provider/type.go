package provider

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// The prefixes of a full provider type. A bare name such as `vllm` is not a type: the server refuses it.
const (
	Remote = "remote::"
	Inline = "inline::"
)

// Type is one provider type of one server release.
type Type struct {
	// API is the API it provides, in the server's spelling: `vector_io`.
	API string
	// Type is the full type: `remote::vllm`.
	Type string
	// Config is the class of its `config` mapping: keys, types, defaults, and what happens to unknown keys.
	Config *schema.Class
	// Broken says why no config with the type starts in this release, as a sentence that continues "…; ". Empty for
	// nearly all types.
	Broken string
	// KeptForm names the form of what the type keeps, where a later release cannot read it and does not start on it. Empty
	// for nearly all types.
	KeptForm string
	// EndpointKey is the key that takes the user's endpoint: `base_url`, `url`, `host`. Empty when the type has none,
	// and an endpoint given by the user is an error.
	EndpointKey string
	// EndpointPath is appended to an endpoint URL that has no path: `/v1`. Empty when the URL is taken as it is.
	EndpointPath string
	// EndpointIgnored says that the server reads EndpointKey and does not use it: it calls the public service.
	EndpointIgnored bool
	// EndpointParts are the keys that take the parts of an endpoint when EndpointKey takes a host name only
	// (pgvector): the port goes to Port, and a scheme or path is an error. Zero when the endpoint is a URL.
	EndpointParts EndpointParts
	// CredentialKey is the key that takes the user's API key or password: `api_key`, `api_token`, `password`. Empty
	// when the type has none.
	CredentialKey string
	// CredentialOptional reports whether the type has other ways to prove who it is: keys of an account, or what the
	// platform gives its pods.
	CredentialOptional bool
	// InMemory reports whether each pod answers from its own memory and reads the type's store only when it starts, so that
	// replicas do not see what another one writes.
	InMemory bool
	// RegionKey is the key that takes a cloud region: `region_name`, `region`. Empty when the type has none.
	RegionKey string
	// ResourceIDs are the names that the provider knows its resources by; another one stops the server. Empty for nearly
	// all types, which take any.
	ResourceIDs []string
	// RequiredDefaults are working values for keys without which the type does not start and which a user cannot be
	// expected to know, in the order in which they are to be written. Defaults returns them filled in.
	RequiredDefaults []Default
	// Requires are the APIs without which the server refuses to start with this provider.
	Requires []string
	// Optional are the APIs that the provider uses when they are there.
	Optional []string
	// Packages are the Python packages that the type needs besides the server's own, as requirement strings.
	Packages []string
	// Service is the host of the public service that the type calls where no endpoint is set: `api.anthropic.com`. Empty:
	// none, or the default of EndpointKey says it.
	Service string
	// ServiceAtStart reports whether the server does not start when it cannot reach that service.
	ServiceAtStart bool
	// Downloads is the host that the type loads files from when it first needs them, unless they are there:
	// `huggingface.co`. Empty: it loads none.
	Downloads string
	// ToolGroup is the tool group that the server registers for the type by itself: `builtin::websearch`; else empty.
	ToolGroup string
	// Deprecated is the server's advice when the type still works but is about to go; else empty.
	Deprecated string
}

// EndpointParts names the keys of an endpoint that is not one URL.
type EndpointParts struct {
	// Port is the key of the port: `port`.
	Port string
}

// Default is a working value of one key.
type Default struct {
	// Key is the key of the provider's config: `persistence`.
	Key string
	// Value is null, bool, string, json.Number, []any, or Fields for a mapping with order.
	//
	// In Type.RequiredDefaults its strings may hold placeholders: {id}, the provider's id, {table}, the same as a table
	// name, and {distribution}, the distribution's name (`~/.llama/distributions/{distribution}/files`).
	Value any
}

// Fields is a mapping with order.
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

// IsRemote says whether the type reaches a service elsewhere.
func (t *Type) IsRemote() bool { return strings.HasPrefix(t.Type, Remote) }

// NeedsCredential reports whether the type calls a service that asks for a credential when the user names no endpoint: it
// has no key for one, or a public service as the default.
func (t *Type) NeedsCredential() bool {
	if !t.IsRemote() || t.CredentialKey == "" || t.CredentialOptional {
		return false
	}
	key, ok := t.Config.Key(t.EndpointKey)
	public, _ := key.Default.(string)
	return !ok || strings.HasPrefix(public, "https://")
}

// Secrets returns the names of the keys at the first level that hold credentials, in declared order.
func (t *Type) Secrets() []string {
	if t.Config == nil {
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
