package starter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// inference is the API of the model provider.
const inference = "inference"

// Error is the error for an invalid answer.
type Error struct {
	// Flag is the flag that sets the answer. It is empty if no flag sets the field that the error names.
	Flag string
	text string
}

// Error returns the flag, the problem and the remedy.
func (e *Error) Error() string { return strings.TrimPrefix(e.Flag+": "+e.text, ": ") }

// wrong records an error.
func (p *Plan) wrong(flag, format string, args ...any) {
	p.errors = append(p.errors, &Error{Flag: flag, text: fmt.Sprintf(format, args...)})
}

// unknown records the error for a value that is not one of the allowed values.
func (p *Plan) unknown(flag, value string, allowed []string) {
	_, text, _ := strings.Cut(app.UnknownValue(flag, value, allowed).Error(), ": ")
	p.wrong(flag, "%s", text)
}

// Check returns the plan for the answers, with defaults for optional answers that are empty, and the errors of the
// answers. The pipeline checks the manifest. Check finds the errors that are not in the manifest, and requires values
// without which the server starts, but cannot reach its models.
func Check(a Answers) (*Plan, []*Error) {
	a.Name, a.Distribution = cmp.Or(a.Name, DefaultName), cmp.Or(a.Distribution, DefaultDistribution)
	a.Store = cmp.Or(a.Store, StoreSQLite)
	p := &Plan{Answers: a, Kind: &provider.Type{Config: &schema.Class{}}}
	if kind, ok := a.KindOf(); ok {
		p.Kind = kind
	}
	if p.Endpoint == "" && NeedsEndpoint(p.Kind) {
		p.wrong(FlagEndpoint, "required for provider %q; write the URL of the provider's server, for example http://%s:8000",
			p.Provider, p.Kind.Short())
	}
	if len(validation.IsDNS1123Label(p.Namespace)) > 0 && p.Namespace != "" {
		p.wrong(FlagNamespace, "%q is not a valid namespace; use at most 63 lowercase letters, digits and \"-\", "+
			"and begin and end with a letter or digit", p.Namespace)
	}
	p.checkSecret()
	p.checkSettings()
	p.checkStore()
	p.checkManifest()
	return p, p.errors
}

// checkManifest runs the pipeline on the manifest, as validate does. If a flag sets the field that an error refers to,
// the error has the flag.
func (p *Plan) checkManifest() {
	found, err := manifests.Gather(document.Generated("init", p.Manifest()), []string{"init"}, dryrun.DefaultNamespace)
	if err != nil {
		p.wrong("", "%v", err)
		return
	}
	p.outcome = found.Plan(found.Stacks[0])
	for _, text := range p.outcome.Errors {
		path, _ := findings.Split(text)
		flag, _ := FlagOf(path)
		p.wrong(flag, "%s", text)
	}
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

func (p *Plan) checkSecret() {
	if p.Secret == "" && p.Kind.NeedsCredential() && p.Endpoint == "" {
		p.wrong(FlagSecret, "required for provider %q; name the Secret with the API key, for example %s", p.Provider,
			DefaultSecret(p.Kind))
	}
	p.secret = p.parseSecret(FlagSecret, p.Secret)
}

// DefaultSecret returns a name and a key, as NAME/KEY, for the Secret with the API key of a provider type.
func DefaultSecret(kind *provider.Type) string {
	name := strings.NewReplacer("::", "-", "_", "-").Replace(kind.Short())
	return name + "-creds/" + strings.ReplaceAll(kind.CredentialKey, "_", "-")
}

// parseSecret returns the name and the key in the value of a flag, or nil for an empty value. The error does not
// contain the value, which can be a credential.
func (p *Plan) parseSecret(flag, text string) *secretKey {
	if text == "" {
		return nil
	}
	name, key, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsConfigMapKey(key)) > 0 {
		p.wrong(flag, "the value must be the name and the key of a Secret, as NAME/KEY, for example "+
			"vllm-creds/token; never write the credential itself")
		return &secretKey{"secret", "key"}
	}
	return &secretKey{name, key}
}

func (p *Plan) checkStore() {
	if !slices.Contains(Stores(), p.Store) {
		p.unknown(FlagStore, p.Store, Stores())
	}
	p.checkStoreFlags()
	p.VolumeSize = cmp.Or(p.VolumeSize, DefaultVolumeSize)
	if p.Store == StoreRedis {
		p.StoreEndpoint = cmp.Or(p.StoreEndpoint, DefaultStoreEndpoint)
	}
	if p.Store == StorePostgres {
		p.StoreSecret = cmp.Or(p.StoreSecret, p.Name+"-postgres/url")
	}
	p.storeSecret = p.parseSecret(FlagStoreSecret, p.StoreSecret)
}

// checkStoreFlags records an error for a flag that has no effect with the chosen store.
func (p *Plan) checkStoreFlags() {
	for _, other := range []struct {
		flag, value string
		of          []string
	}{
		{FlagVolumeSize, p.VolumeSize, []string{StoreSQLite, StoreRedis}},
		{FlagStoreEndpoint, p.StoreEndpoint, []string{StoreRedis}},
		{FlagStoreSecret, p.StoreSecret, []string{StorePostgres, StoreRedis}},
	} {
		if other.value != "" && !slices.Contains(other.of, p.Store) {
			p.wrong(other.flag, "has no effect with %s %s; remove %s, or set %s %s", FlagStore, p.Store, other.flag,
				FlagStore, strings.Join(other.of, " or "))
		}
	}
}
