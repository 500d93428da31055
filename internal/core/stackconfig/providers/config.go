package providers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// configWriter writes the config of one provider. setBy maps each key to the field that set it, so that no other field
// sets the key.
type configWriter struct {
	*draft.Draft
	entry  *draft.Provider
	kind   *provider.Type
	config *yamlnode.Fields
	setBy  map[string]*field.Path
}

// put writes a key. It reports an error if another field has already set the key.
func (c *configWriter) put(key string, value *yaml.Node, path *field.Path) {
	name := key
	if known, ok := c.kind.Config.Key(key); ok {
		name = known.Name
	}
	if other, taken := c.setBy[name]; taken {
		c.Failf(path, "%q is also set by %s; keep one of them", key, other)
		return
	}
	c.setBy[name] = path
	c.WriteField(c.config, key, value, draft.From(path))
}

// endpoint writes the endpoint to the key that this type reads in this release (FR-031). The server would silently
// ignore any other key (server fact 8).
func (c *configWriter) endpoint() {
	p := c.entry.User
	if p.Endpoint == "" {
		return
	}
	path := p.Path.Child("endpoint")
	switch {
	case c.kind.EndpointKey == "":
		c.Failf(path, "%s does not accept an endpoint in release %s; remove the endpoint; configuration keys of this type: %s", c.kind.Type, c.Release.Line, c.keyNames())
	case c.kind.PortKey != "":
		c.hostAndPort(p.Endpoint, path)
	default:
		if err := c.checkEndpoint(p.Endpoint); err != nil {
			c.Failf(path, "%s", err)
			return
		}
		c.put(c.kind.EndpointKey, yamlnode.String(c.kind.Endpoint(p.Endpoint)), path)
	}
	if c.kind.EndpointIgnored {
		c.Ignoredf(path, "%s ignores the endpoint in server release %s, and always calls the public service; remove the endpoint", c.kind.Type, c.Release.Line)
	}
}

// takesURL reports whether the server parses the endpoint as a URL. Keys for plain text also accept host:port
// (weaviate, elasticsearch), unless the type has an EndpointPath.
func (c *configWriter) takesURL() bool {
	key, ok := c.kind.Config.Key(c.kind.EndpointKey)
	return c.kind.EndpointPath != "" || (ok && isURL(key.Type))
}

// checkEndpoint checks an endpoint against the form that the key accepts. Because the operator writes the endpoint to a
// ConfigMap, checkEndpoint rejects an endpoint with a user name or a password, unless the endpoint refers to a
// variable.
func (c *configWriter) checkEndpoint(endpoint string) error {
	scheme, _, found := strings.Cut(endpoint, "://")
	if c.takesURL() || scheme == "http" || scheme == "https" {
		return intent.CheckURL(endpoint)
	}
	if strings.Contains(endpoint, "@") && !envref.In(endpoint) {
		return errors.New("contains a user name or password, which is not allowed in an endpoint; put the credential in a Secret")
	}
	if found || !strings.ContainsAny(endpoint, " \t\r\n") {
		return nil
	}
	return fmt.Errorf("%q is not an endpoint; write an endpoint such as host:8000", endpoint)
}

func isURL(expr *schema.Expr) bool {
	return expr != nil && (expr.Kind == schema.KindURL ||
		(expr.Kind == schema.KindUnion && slices.ContainsFunc(expr.Args, isURL)))
}

// hostAndPort writes the host and the port of an endpoint to the separate keys of a type.
func (c *configWriter) hostAndPort(endpoint string, path *field.Path) {
	host, port, found := strings.Cut(endpoint, ":")
	number, err := strconv.ParseUint(port, 10, 16)
	if strings.ContainsAny(endpoint, "/@ ") || host == "" || (found && (err != nil || number == 0)) {
		c.Failf(path, "%s requires an endpoint without a scheme or a path; write host or host:port", c.kind.Type)
		return
	}
	c.put(c.kind.EndpointKey, yamlnode.String(host), path)
	if found {
		c.put(c.kind.PortKey, yamlnode.Int(int64(number)), path)
	}
}

// credential writes the credential to the credential key of the type (FR-032): api_token for vllm, password for
// pgvector (server fact 9).
func (c *configWriter) credential() {
	p := c.entry.User
	if p.APIKey == nil {
		return
	}
	if c.kind.CredentialKey == "" {
		c.Failf(p.Path.Child("apiKey"), "%s does not accept an API key in release %s; %s", c.kind.Type, c.Release.Line, c.insteadOfAPIKey())
		return
	}
	text := c.SecretVariable(p.APIKey)
	c.put(c.kind.CredentialKey, yamlnode.String(text), p.APIKey.Path)
}

// insteadOfAPIKey returns the remedy for a type without an API key: the keys for its credentials or, if it has none,
// all its keys, and the releases in which it accepts an API key. Up to 0.3, for example, Bedrock reads the keys of an
// AWS account.
func (c *configWriter) insteadOfAPIKey() string {
	var secrets []string
	for i := range c.kind.Config.Keys {
		if key := &c.kind.Config.Keys[i]; key.Secret && !key.Internal {
			secrets = append(secrets, key.Name)
		}
	}
	text := "remove apiKey; configuration keys of this type: " + c.keyNames()
	if len(secrets) > 0 {
		text = "remove apiKey, and set the secrets of this type in secretRefs: " + strings.Join(secrets, ", ")
	}
	if lines := release.LinesWithCredential(c.entry.API, c.kind.Type); len(lines) > 0 {
		text += "; releases in which this type accepts an API key: " + strings.Join(lines, ", ")
	}
	return text
}

func (c *configWriter) secrets() {
	p := c.entry.User
	for i := range p.Secrets {
		secret := &p.Secrets[i]
		text := c.SecretVariable(&secret.SecretRef)
		c.put(secret.Key, yamlnode.String(text), secret.Path)
	}
}

// settings copies the provider's settings into the config unchanged (FR-033).
func (c *configWriter) settings() {
	p := c.entry.User
	path := p.Path.Child("settings")
	for _, key := range slices.Sorted(maps.Keys(p.Settings)) {
		if known, ok := c.kind.Config.Key(key); ok && known.Secret && credential.IsClearText(p.Settings[key]) {
			c.Warnf(path.Child(key), "is a credential in clear text; name a Secret in apiKey or secretRefs instead")
		}
		c.put(key, yamlnode.FromJSON(p.Settings[key]), path.Child(key))
	}
}

// baseConfig returns the configuration of the base's provider with the same ID and type, or nil when there is none.
func (c *configWriter) baseConfig(replaced *draft.Provider) *yaml.Node {
	if replaced == nil || replaced.ProviderType != c.kind.Type {
		return nil
	}
	return yamlnode.Get(replaced.Node, "config")
}

// connection keeps the connection of the base's provider to its service: the credentials, the endpoint for which they
// are valid, and all other values that the base reads from the environment (a region, a project). A credential is valid
// for one service, so the server must never send it to another. If the user sets the endpoint, connection keeps no
// values from the base. If the user sets a credential, connection keeps neither the base's credential nor a value that
// names a host.
func (c *configWriter) connection(base *yaml.Node) {
	ownCredential := false
	for i := range c.kind.Config.Keys {
		key := &c.kind.Config.Keys[i]
		_, set := c.setBy[key.Name]
		if set && c.isEndpoint(key.Name) {
			return
		}
		ownCredential = ownCredential || set && key.Secret
	}
	for _, name := range yamlnode.Keys(base) {
		key, known := c.kind.Config.Key(name)
		if !known || c.setBy[key.Name] != nil {
			continue
		}
		value := yamlnode.Get(base, name)
		wanted := key.Secret || c.isEndpoint(key.Name) || envref.In(value.Value)
		if ownCredential {
			wanted = envref.In(value.Value) && !key.Secret && !c.isEndpoint(key.Name) && !isURL(key.Type)
		}
		if wanted && c.starts(&key, value) {
			c.setBy[key.Name] = c.entry.User.Path
			c.WriteField(c.config, name, value, draft.FromBase)
		}
	}
}

// starts reports whether the server starts with the resolved form of a value from the base. The base's provider might
// exist only when its variable is set, but the user's provider always exists.
func (c *configWriter) starts(key *schema.Key, value *yaml.Node) bool {
	text, replaced := c.StartupText(value)
	return !replaced || c.Intent.MoreVariables || !schema.AnyFatal(key.Type.Check(draft.Converted(text)))
}

// isEndpoint reports whether a key is the endpoint, or a part of it.
func (c *configWriter) isEndpoint(key string) bool {
	return key == c.kind.EndpointKey || key == c.kind.PortKey
}

// defaults writes the values that the type needs and the user did not set. If the base's provider with the same ID and
// type sets such a value, defaults keeps this value, so that the provider keeps its file or namespace and no data is
// lost. Otherwise, defaults uses the default of the release.
func (c *configWriter) defaults(base *yaml.Node) {
	needed := c.kind.Defaults(c.entry.ID, c.Distribution)
	for i := range needed {
		c.fill(needed[i].Key, base, func() (*yaml.Node, draft.Origin) {
			return provider.Node(needed[i].Value), c.ReleaseDefault()
		})
	}
	for i := range c.kind.Config.Keys {
		if key := &c.kind.Config.Keys[i]; key.Required {
			c.fill(key.Name, base, func() (*yaml.Node, draft.Origin) { return nil, draft.Origin{} })
		}
	}
}

func (c *configWriter) fill(key string, base *yaml.Node, otherwise func() (*yaml.Node, draft.Origin)) {
	if _, set := c.setBy[key]; set || c.config.Get(key) != nil {
		return
	}
	if kept := yamlnode.Get(base, key); kept != nil {
		c.WriteField(c.config, key, kept, draft.FromBase)
		return
	}
	if value, origin := otherwise(); value != nil {
		c.WriteField(c.config, key, value, origin)
	}
}

func (c *configWriter) keyNames() string {
	var keys []string
	for i := range c.kind.Config.Keys {
		if key := &c.kind.Config.Keys[i]; !key.Internal {
			keys = append(keys, key.Name)
		}
	}
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}
