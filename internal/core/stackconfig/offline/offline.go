package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// checks finds the parts of one configuration that need the internet.
type checks struct {
	*draft.Draft
	draft.Finder
}

func checksOf(d *draft.Draft) *checks { return &checks{d, draft.NewFinder(d)} }

// Check reports the parts of a generated configuration that need the internet, for a stack in an offline cluster. A
// part that prevents the server from starting is an error, unless no field wrote the part and the release is unknown. A
// part that fails only when it is used is a warning.
func Check(d *draft.Draft) {
	if !d.Intent.Offline {
		return
	}
	for _, need := range checksOf(d).needs() {
		switch {
		case need.fatal && need.path != nil:
			d.Failf(need.path, "%s", need.message)
		case need.fatal && !d.Unknown:
			d.Fail(&field.Error{
				Type: field.ErrorTypeInvalid, Field: need.at, BadValue: field.OmitValueType{},
				Detail: need.message + " (in the base configuration)",
			})
		case need.path != nil:
			d.Warn(draft.Finding{Path: need.path.String(), ConfigPath: need.at, Message: need.message})
		default:
			d.Warn(draft.Finding{ConfigPath: need.at, Message: need.message})
		}
	}
}

// Findings returns the parts that need the internet in a configuration that is not generated: the user's own, or the
// image's. All findings are warnings at the field `path`, because only the server can reject such a configuration.
func Findings(data []byte, path string, wishes *intent.Intent, rel *release.Release) []draft.Finding {
	base, err := baseconfig.Parse(data)
	if err != nil {
		return nil // package check reports the error
	}
	d := draft.New(base, wishes, rel, "")
	draft.Resolve(d)
	var findings []draft.Finding
	for _, need := range checksOf(d).needs() {
		message := need.message
		if need.at != "" {
			message = need.at + ": " + message
		}
		findings = append(findings, draft.Finding{Path: path, ConfigPath: need.at, Message: message})
	}
	return findings[:min(len(findings), maxFindings)]
}

// maxFindings limits the findings for one file. Fixing the first findings usually fixes the others too.
const maxFindings = 20

// need is a part of a configuration that needs the internet.
type need struct {
	// path is the field of the spec that wrote the part. Nil means that no field wrote it. at is the part's path in the
	// configuration.
	path *field.Path
	at   string
	// fatal reports whether the need prevents the server from starting without internet access.
	fatal   bool
	message string
}

// needs returns the needs of providers, of settings that name models, of registered resources, of authentication and of
// the tokenizer, in this order.
func (c *checks) needs() []need {
	found := c.providerNeeds()
	found = append(found, c.referenceNeeds()...)
	found = append(found, c.resourceNeeds()...)
	for _, at := range c.outsideURLs(yamlnode.At(c.Root, "server", "auth"), "server.auth") {
		found = append(found, c.outsideNeed(at))
	}
	return append(found, c.tokenizerNeed()...)
}

// providerNeeds returns the needs of the providers. The base's providers share one need for all calls to public
// services, and one for all downloads. A service without which the server does not start has a separate need.
func (c *checks) providerNeeds() []need {
	var found []need
	var calls, loads []string
	for path, e := range c.Index.All {
		if !e.Enabled {
			continue
		}
		id, service, host := draft.APIField(e.API)+"/"+e.ID, c.serviceOf(e), c.downloadsFrom(e)
		switch {
		case service == "":
		case e.Path() == nil && !e.Kind.ServiceAtStart:
			calls = append(calls, fmt.Sprintf("%s (%s)", id, service))
		default:
			found = append(found, c.serviceNeed(e, path, service))
		}
		found = append(found, c.configNeeds(e, path, service)...)
		switch {
		case host == "":
		case e.Path() == nil:
			loads = append(loads, fmt.Sprintf("%s (%s)", id, host))
		default:
			found = append(found, need{path: e.Path(), at: path, message: fmt.Sprintf(
				"%s downloads files from %s when the provider first needs these files; %s", e.ProviderType, host, giveFiles(host, "remove the provider"))})
		}
	}
	return append(found, baseNeeds(calls, loads)...)
}

// configNeeds returns a need for each outside URL in the config of a provider, except for the URL of its service.
func (c *checks) configNeeds(e *draft.Provider, path, service string) []need {
	var found []need
	for _, url := range c.outsideURLs(yamlnode.Get(e.Node, "config"), path+".config") {
		if url.host != service {
			found = append(found, c.outsideNeed(url))
		}
	}
	return found
}

// baseNeeds returns one need for the base's providers that call public services, and one for those that download files.
func baseNeeds(calls, loads []string) []need {
	var found []need
	offline := field.NewPath("spec", "offline")
	if len(calls) > 0 {
		found = append(found, need{path: offline, message: fmt.Sprintf(
			"providers in the base configuration call public services that an offline cluster cannot reach: %s; disable these providers in spec.disabled, or configure your own endpoints for these providers",
			intent.Listed(calls))})
	}
	if len(loads) > 0 {
		found = append(found, need{path: offline, message: fmt.Sprintf(
			"these providers in the base configuration download files on first use: %s; provide the files from huggingface.co through spec.modelFiles.huggingFaceCache, or disable the providers in spec.disabled",
			intent.Listed(loads))})
	}
	return found
}

// serviceOf returns the host of the public service that a provider calls because no other endpoint is set or because
// the server ignores the endpoint. It returns an empty string when there is no such service.
func (c *checks) serviceOf(e *draft.Provider) string {
	if e.Kind == nil {
		return ""
	}
	key, known := e.Kind.Config.Key(e.Kind.EndpointKey)
	if !known {
		return e.Kind.Service
	}
	public, _ := key.Default.(string)
	if e.Kind.EndpointIgnored {
		return cmp.Or(hostOf(public), e.Kind.Service)
	}
	text := c.textOf(yamlnode.At(e.Node, "config", e.Kind.EndpointKey))
	switch {
	case text != "" && hostOf(text) != hostOf(public):
		return "" // checked like any other URL
	case text == "" && slices.ContainsFunc(key.DefaultVariables, c.IsSet):
		return ""
	case isOutside(hostOf(public)):
		return hostOf(public)
	default:
		return e.Kind.Service
	}
}

// textOf returns the text that the server reads for a value when it starts, as far as the text is known.
func (c *checks) textOf(value *yaml.Node) string {
	if yamlnode.IsNull(value) {
		return ""
	}
	if text, replaced := c.StartupText(value); replaced {
		return text
	}
	return value.Value
}

// serviceNeed returns the need of a provider that calls a public service.
func (c *checks) serviceNeed(e *draft.Provider, path, host string) need {
	at, remedy := e.Path(), fmt.Sprintf("disable the provider with %s/%s in spec.disabled", draft.APIField(e.API), e.ID)
	if at != nil {
		remedy = "remove the provider"
	}
	if e.Kind.EndpointKey != "" && !e.Kind.EndpointIgnored {
		remedy = "give the provider an endpoint that the cluster can reach, or " + remedy
		if e.User != nil {
			at = at.Child("endpoint")
		}
	}
	if e.Kind.ServiceAtStart {
		return need{path: at, at: path, fatal: true, message: fmt.Sprintf(
			"%s calls %s when the server starts, and the server does not start without a response; in an offline cluster, %s", e.ProviderType, host, remedy)}
	}
	return need{path: at, at: path, message: fmt.Sprintf("%s calls %s, and these requests fail in an offline cluster; %s", e.ProviderType, host, remedy)}
}

// downloadsFrom returns the host from which a provider loads files that the user does not supply, or an empty string
// when there is none.
func (c *checks) downloadsFrom(e *draft.Provider) string {
	if e.Kind == nil || (e.Kind.Downloads == hub && c.hasHubFiles()) {
		return ""
	}
	return e.Kind.Downloads
}

const hub = "huggingface.co"

// hubVariables lists the variables that specify a cache or a mirror of huggingface.co. Only variables that the user
// sets count, because the operator always sets HF_HOME.
var hubVariables = []string{names.EnvHubCache, names.EnvModelCache, names.EnvSentenceTransformers, names.EnvHubEndpoint}

func (c *checks) hasHubFiles() bool { return c.Intent.Files.Hub || c.userSets(hubVariables...) }

// userSets reports whether the user sets at least one of the given variables on the server's container.
func (c *checks) userSets(variables ...string) bool {
	return slices.ContainsFunc(variables, func(name string) bool {
		_, set := slices.BinarySearch(c.Intent.Variables, name)
		return set
	})
}

// giveFiles returns the remedy for files that a provider downloads.
func giveFiles(host, otherwise string) string {
	if host != hub {
		return "in an offline cluster, " + otherwise
	}
	return "provide the files through spec.modelFiles.huggingFaceCache, or " + otherwise
}

// tokenizerNeed returns the need for the tokenizer, which the vector stores of some releases load when they start. The
// published images contain it (server fact 66).
func (c *checks) tokenizerNeed() []need {
	name := c.Release.Offline.Tokenizer
	if name == "" || c.Intent.Distribution.Name != "" || c.Intent.Files.Tiktoken || c.userSets(names.EnvTiktokenCache) ||
		!slices.ContainsFunc(c.Index.Of("vector_io"), func(e *draft.Provider) bool { return e.Enabled }) {
		return nil
	}
	return []need{{path: field.NewPath("spec", "offline"), message: fmt.Sprintf(
		"the vector stores of server release %s load the tokenizer %s when they start, and the server does not start without the tokenizer: "+
			"provide the tokenizer through spec.modelFiles.tiktokenCache, unless the image contains the tokenizer in the directory that the image's variable %s specifies", c.Release.Line, name, names.EnvTiktokenCache)}}
}

// outsideURL is a URL in the configuration with a host outside the cluster.
type outsideURL struct{ at, host string }

// outsideURLs returns the outside URLs in a configuration value.
func (c *checks) outsideURLs(node *yaml.Node, at string) []outsideURL {
	if node == nil {
		return nil
	}
	var found []outsideURL
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == "issuer" {
				continue // the server compares the issuer with the one in tokens, and sends no requests to it
			}
			found = append(found, c.outsideURLs(node.Content[i+1], draft.JoinPath(at, node.Content[i].Value))...)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			found = append(found, c.outsideURLs(item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case yaml.ScalarNode:
		if host := outsideHost(c.textOf(node)); host != "" {
			found = append(found, outsideURL{at, host})
		}
	case yaml.DocumentNode, yaml.AliasNode: // a configuration has no nodes of these kinds
	}
	return found
}

// outsideHost returns the host of a URL outside the cluster, and an empty string for any other string.
func outsideHost(text string) string {
	scheme, _, isURL := strings.Cut(text, "://")
	host := hostOf(text)
	switch {
	case !isURL || envref.In(text) || (scheme != "huggingface" && !isOutside(host)):
		return ""
	case scheme == "huggingface": // a dataset on huggingface.co
		return hub
	default:
		return host
	}
}

func (c *checks) outsideNeed(url outsideURL) need {
	return need{path: c.OriginAt(url.at).Path, at: url.at, message: fmt.Sprintf(
		"the host %q is outside the cluster: in an offline cluster, requests to the host fail unless the host is in your own network; use a host that the cluster can reach", url.host)}
}
