package starter

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// inference is the API of the model provider.
const inference = "inference"

// Error is the error for an invalid answer.
type Error struct {
	// Flag is the flag that sets the answer.
	Flag string
	text string
}

// Error returns the flag, the problem and the remedy.
func (e *Error) Error() string { return e.Flag + ": " + e.text }

func wrong(flag, format string, args ...any) error {
	return &Error{Flag: flag, text: fmt.Sprintf(format, args...)}
}

// unknown returns the error for a value that is not one of the allowed values.
func unknown(flag, value string, allowed []string) error {
	remedy := ""
	if nearest := suggest.Nearest(value, allowed); nearest != "" {
		remedy = fmt.Sprintf("; did you mean %q?", nearest)
	}
	return wrong(flag, "%q is not a valid value; use one of %s%s", value, strings.Join(allowed, ", "), remedy)
}

// Check returns the plan for the answers, with defaults for optional answers that are empty. It returns an error for
// the first invalid answer.
func Check(a Answers) (*Plan, error) {
	a.Name, a.Distribution = cmp.Or(a.Name, DefaultName), cmp.Or(a.Distribution, DefaultDistribution)
	p := &Plan{Answers: a}
	for _, check := range []func() error{
		p.checkNames, p.checkRelease, p.checkProvider, p.checkEndpoint, p.checkSecret, p.checkSettings, p.checkModels,
		p.checkStore,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) checkNames() error {
	if problems := validation.IsDNS1035Label(p.Name); len(problems) > 0 {
		return wrong(FlagName, "%q is not a valid name; use at most 63 lowercase letters, digits and \"-\", "+
			"begin with a letter, and end with a letter or digit", p.Name)
	}
	if problems := validation.IsDNS1123Label(p.Namespace); p.Namespace != "" && len(problems) > 0 {
		return wrong(FlagNamespace, "%q is not a valid namespace; use at most 63 lowercase letters, digits and \"-\", "+
			"and begin and end with a letter or digit", p.Namespace)
	}
	if problems := validation.IsDNS1123Subdomain(p.Expose); p.Expose != "" && len(problems) > 0 {
		return wrong(FlagExpose, "%q is not a host name; write the host name without a scheme or port, for example "+
			"llama.example.com", p.Expose)
	}
	return nil
}

func (p *Plan) checkRelease() error {
	if known := distribution.Known(distribution.Overrides{}); !slices.Contains(known, p.Distribution) {
		return unknown(FlagDistribution, p.Distribution, known)
	}
	if p.Release == "" {
		return nil
	}
	if _, err := release.LookupOffered(p.Release); err != nil {
		return unknown(FlagRelease, p.Release, release.Offered())
	}
	if _, err := distribution.Resolve(p.Distribution, "", p.Release, distribution.Overrides{}); err != nil {
		return wrong(FlagRelease, "%q is not a release of distribution %q; use one of %s", p.Release, p.Distribution,
			strings.Join(distribution.Versions(p.Distribution), ", "))
	}
	return nil
}

// rel returns the release of the server.
func (p *Plan) rel() *release.Release {
	if match, err := release.LookupOffered(p.Release); err == nil {
		return match.Release
	}
	return release.Default()
}

// Providers returns the types of model providers that start in a release. It returns the short name of a type if that
// name is not ambiguous. If the release is unknown, it uses the default release.
func Providers(asked string) []string {
	p := Plan{Answers: Answers{Release: asked}}
	rel := p.rel()
	var names []string
	for _, name := range rel.ProviderTypes(inference) {
		kind, ok := rel.Provider(inference, name)
		if !ok || kind.Broken != "" {
			continue
		}
		if resolved, ok := rel.ResolveType(inference, kind.Short()); ok && resolved == kind {
			name = kind.Short()
		}
		names = append(names, name)
	}
	return names
}

func (p *Plan) checkProvider() error {
	known := Providers(p.Release)
	if p.Provider == "" {
		return wrong(FlagProvider, "required: set the model provider to one of %s", strings.Join(known, ", "))
	}
	kind, ok := p.rel().ResolveType(inference, p.Provider)
	if !ok {
		if lines := release.LinesWith(inference, p.Provider); len(lines) > 0 {
			return wrong(FlagProvider, "%q does not exist in release %s; use one of the releases with this provider: %s", p.Provider, p.rel().Line,
				strings.Join(lines, ", "))
		}
		return unknown(FlagProvider, p.Provider, known)
	}
	if kind.Broken != "" {
		return wrong(FlagProvider, "%q does not start in release %s; %s", p.Provider, p.rel().Line, kind.Broken)
	}
	p.Kind = kind
	return nil
}

func (p *Plan) checkEndpoint() error {
	switch {
	case p.Endpoint == "" && NeedsEndpoint(p.Kind):
		return wrong(FlagEndpoint, "required for provider %q; write the URL of the provider's server, for example http://%s:8000", p.Provider,
			p.Kind.Short())
	case p.Endpoint == "":
		return nil
	case p.Kind.EndpointKey == "":
		return wrong(FlagEndpoint, "%q: provider %q has no endpoint in release %s; remove %s", p.Endpoint, p.Provider, p.rel().Line,
			FlagEndpoint)
	}
	parsed, err := url.Parse(p.Endpoint)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		return wrong(FlagEndpoint, "the value is not an HTTP or HTTPS URL; write http://HOST:PORT or https://HOST")
	case parsed.User != nil:
		return wrong(FlagEndpoint, "the URL contains credentials; remove the credentials, and set %s to a Secret", FlagSecret)
	}
	return nil
}

// NeedsEndpoint reports whether a provider type needs an endpoint because the provider has no public service.
func NeedsEndpoint(kind *provider.Type) bool {
	if kind.EndpointKey == "" || !kind.IsRemote() {
		return false
	}
	key, ok := kind.Config.Key(kind.EndpointKey)
	if !ok {
		return false
	}
	public, _ := key.Default.(string)
	return !strings.HasPrefix(public, "https://")
}

func (p *Plan) checkSecret() error {
	var err error
	switch {
	case p.Secret != "" && p.Kind.CredentialKey == "":
		return wrong(FlagSecret, "%q: provider %q does not accept an API key in release %s; remove %s", p.Secret, p.Provider,
			p.rel().Line, FlagSecret)
	case p.Secret == "" && p.Kind.NeedsCredential() && p.Endpoint == "":
		return wrong(FlagSecret, "required for provider %q; name the Secret with the API key, for example %s", p.Provider,
			DefaultSecret(p.Kind))
	case p.Secret != "":
		p.secret, err = parseSecret(FlagSecret, p.Secret)
	}
	return err
}

// DefaultSecret returns a name and a key, as NAME/KEY, for the Secret with the API key of a provider type.
func DefaultSecret(kind *provider.Type) string {
	name := strings.NewReplacer("::", "-", "_", "-").Replace(kind.Short())
	return name + "-creds/" + strings.ReplaceAll(kind.CredentialKey, "_", "-")
}

func parseSecret(flag, text string) (*secretKey, error) {
	name, key, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsConfigMapKey(key)) > 0 {
		return nil, wrong(flag, "the value must be the name and the key of a Secret, as NAME/KEY, for example "+
			"vllm-creds/token; never write the credential itself")
	}
	return &secretKey{name, key}, nil
}

func (p *Plan) checkModels() error {
	for _, model := range p.Models {
		if strings.TrimSpace(model) == "" || strings.ContainsAny(model, "\n\r\t") {
			return wrong(FlagModel, "%q is not the name of a model; use a name that is not blank and has no tabs or line breaks",
				model)
		}
	}
	return nil
}

func (p *Plan) checkStore() error {
	p.Store = cmp.Or(p.Store, StoreSQLite)
	if !slices.Contains(Stores(), p.Store) {
		return unknown(FlagStore, p.Store, Stores())
	}
	if err := p.checkStoreFlags(); err != nil {
		return err
	}
	p.VolumeSize = cmp.Or(p.VolumeSize, DefaultVolumeSize)
	if size, err := quantity.Parse(p.VolumeSize); err != nil || size.Sign() <= 0 {
		return wrong(FlagVolumeSize, "%q is not a size greater than 0; write, for example, %s", p.VolumeSize,
			DefaultVolumeSize)
	}
	if p.Store == StoreRedis {
		p.StoreEndpoint = cmp.Or(p.StoreEndpoint, DefaultStoreEndpoint)
	}
	if p.Store == StorePostgres {
		p.StoreSecret = cmp.Or(p.StoreSecret, p.Name+"-postgres/url")
	}
	if p.StoreSecret == "" {
		return nil
	}
	var err error
	p.storeSecret, err = parseSecret(FlagStoreSecret, p.StoreSecret)
	return err
}

// checkStoreFlags returns an error for a flag that has no effect with the chosen store.
func (p *Plan) checkStoreFlags() error {
	for _, other := range []struct {
		flag, value string
		of          []string
	}{
		{FlagVolumeSize, p.VolumeSize, []string{StoreSQLite, StoreRedis}},
		{FlagStoreEndpoint, p.StoreEndpoint, []string{StoreRedis}},
		{FlagStoreSecret, p.StoreSecret, []string{StorePostgres, StoreRedis}},
	} {
		if other.value != "" && !slices.Contains(other.of, p.Store) {
			return wrong(other.flag, "has no effect with %s %s; remove %s, or set %s %s", FlagStore, p.Store, other.flag,
				FlagStore, strings.Join(other.of, " or "))
		}
	}
	return nil
}
