package observe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// recordServer records the providers, the models and the MCP servers that the running server lists. Until the server
// has responded, recordServer keeps the lists of the previous server. If the server lists no providers, recordServer
// removes the lists. No condition depends on these lists, because the providers' services are not part of the stack.
func recordServer(s *stack, in *intent.Intent, answer *probe.Answer) {
	now := &s.Status
	if !answer.Concluded {
		return
	}
	if len(answer.Providers) == 0 {
		forgetServer(now)
		return
	}
	if now.DistributionConfig == nil {
		now.DistributionConfig = &v1alpha2.DistributionConfigStatus{}
	}
	listed := slices.Clone(answer.Providers)
	if !profile.Of(s.Annotations).WholeStatus { // users of v1alpha1 expect all providers, with their health
		// From release 0.3 on, servers do not check any provider, and the same two lines for each provider would make the
		// status hard to read.
		for i := range listed {
			if listed[i].Health.Status == v1alpha2.ProviderHealthNotImplemented {
				listed[i].Health = v1alpha2.ProviderHealthStatus{}
			}
		}
		listed = relevant(listed, in)
	}
	now.DistributionConfig.Providers = listed
	now.DistributionConfig.ProvidersLeftOut = int32(len(answer.Providers) - len(listed)) //nolint:gosec // bounded by probe
	now.Models, now.ModelsLeftOut = slices.Clone(answer.Models.Listed), answer.Models.LeftOut
	now.MCPServers = slices.Clone(answer.MCPServers)
	if len(now.MCPServers) == 0 {
		now.MCPServers = nil
	}
}

const (
	// maxProviders bounds the list of providers in the status of a stack that was not created as v1alpha1.
	maxProviders = 20
	// fewProviders is the maximum number of providers in such a status if the server neither lists a provider from the
	// spec nor checks the health of any provider.
	fewProviders = 5
)

// relevant returns the providers that the spec contains, and those whose health the server checks. If there are no such
// providers, it returns the first few providers. A distribution has about thirty other providers, which no user
// configured and which would make the status hard to read.
func relevant(listed []v1alpha2.ProviderInfo, in *intent.Intent) []v1alpha2.ProviderInfo {
	wanted := slices.DeleteFunc(slices.Clone(listed), func(p v1alpha2.ProviderInfo) bool {
		own := slices.ContainsFunc(in.Providers, func(own intent.Provider) bool {
			return own.API == p.API && own.ID == p.ProviderID
		}) || slices.ContainsFunc(in.External, func(own intent.ExternalProvider) bool {
			return own.API == p.API && own.ID == p.ProviderID
		})
		return p.Health.Status == "" && !own
	})
	if len(wanted) == 0 {
		return listed[:min(len(listed), fewProviders)]
	}
	return wanted[:min(len(wanted), maxProviders)]
}

// mayHaveMCP reports whether a server may have MCP servers, from the spec or from a user's own configuration.
func mayHaveMCP(s *stack, in *intent.Intent) bool {
	return s.Spec.OverrideConfig != nil || s.Spec.BaseConfig != nil ||
		slices.ContainsFunc(in.Tools, func(tool intent.Tool) bool { return tool.MCPEndpoint != "" })
}

// forgetServer removes the providers, the models and the MCP servers of a server that no longer exists.
func forgetServer(now *v1alpha2.LlamaStackDistributionStatus) {
	now.Models, now.ModelsLeftOut, now.MCPServers = nil, 0, nil
	if now.DistributionConfig != nil {
		now.DistributionConfig.Providers, now.DistributionConfig.ProvidersLeftOut = nil, 0
		dropEmptyConfig(now)
	}
}

// dropEmptyConfig removes distributionConfig if it has no fields, because kubectl describe would otherwise print its
// name.
func dropEmptyConfig(now *v1alpha2.LlamaStackDistributionStatus) {
	config := now.DistributionConfig
	if config.ActiveDistribution == "" && len(config.AvailableDistributions) == 0 && len(config.Providers) == 0 {
		now.DistributionConfig = nil
	}
}

// certificateOf returns the SHA-256 digest of the certificate that the server has to present, or an empty string if the
// server does not use TLS or the certificate cannot be parsed.
func certificateOf(spec *v1alpha2.LlamaStackDistributionSpec, secrets resolve.Values) string {
	secret := render.TLSSecret(spec)
	if secret == "" {
		return ""
	}
	chain, _ := secrets.Get(secret, names.TLSCertificate)
	return cabundle.Fingerprint(chain)
}

// Distributions sets the fields about distributions that users of v1alpha1 read. For a stack that was not
// created as v1alpha1, it removes the fields, because they would repeat the spec and the operator's catalog.
func (o *Observer) Distributions(
	stack *stack, image *distribution.Resolved, overrides distribution.Overrides,
) {
	var own v1alpha2.DistributionConfigStatus
	if now := stack.Status.DistributionConfig; now != nil {
		own = *now
	}
	own.ActiveDistribution, own.AvailableDistributions = "", nil
	if profile.Of(stack.Annotations).WholeStatus {
		own.ActiveDistribution = cmp.Or(stack.Spec.Distribution.Name, image.Image)
		own.AvailableDistributions = o.available.with(overrides)
	}
	stack.Status.DistributionConfig = &own
	dropEmptyConfig(&stack.Status)
}

// available caches the names of the operator's distributions and their images for the statuses of v1alpha1 stacks. The
// names and images change only with the operator's ConfigMap.
type available struct {
	mu        sync.Mutex
	overrides distribution.Overrides
	images    map[string]string
}

// with returns the image of each distribution for the given image overrides. Callers must not change the result.
func (a *available) with(overrides distribution.Overrides) map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.images != nil && maps.Equal(a.overrides, overrides) {
		return a.images
	}
	a.overrides, a.images = overrides, map[string]string{}
	for _, name := range distribution.Known(overrides) {
		if known, err := distribution.Resolve(name, "", "", overrides); err == nil {
			a.images[name] = known.Image
		}
	}
	return a.images
}

// ExternalProviders returns the external providers that a plan installs, or all those in the spec if there is no plan.
func ExternalProviders(
	wishes *intent.Intent, made *plan.Plan, packages map[string]*externalprovider.Package,
) []status.ExternalProvider {
	var all []status.ExternalProvider
	for i := range wishes.External {
		asked := &wishes.External[i]
		if made != nil && !slices.ContainsFunc(made.External(),
			func(p render.ExternalProvider) bool { return p.ID == asked.ID }) {
			continue // disabled
		}
		provider := status.ExternalProvider{API: asked.API, ID: asked.ID, Image: asked.Image, Path: asked.Path.String()}
		if known := packages[asked.ID]; known != nil {
			provider.Type, provider.Module = known.Type, known.Module
		}
		all = append(all, provider)
	}
	return all
}

// External writes the progress of the external providers in the pods to the status, and adds events about changes. The
// server has concluded if its list of providers is complete.
func (o *Observer) External(stack *stack, in status.ExternalInput, concluded bool, report *report.Report) {
	now, before := &stack.Status, stack.Status.ExternalProviders
	if len(in.Providers) == 0 {
		now.ExternalProviders = nil
		return
	}
	in.Now = o.now()
	judged, until := status.ExternalProviders(in)
	if !until.IsZero() {
		report.Requeue(until)
	}
	if !concluded {
		keepWarnings(judged, before)
	}
	now.ExternalProviders = judged
	reportExternal(judged, before, report)
}

// keepWarnings keeps the warnings about ready providers until a restarted operator has queried the server.
func keepWarnings(judged, before []v1alpha2.ExternalProviderStatus) {
	for i := range judged {
		is, was := &judged[i], find(before, judged[i].ProviderID)
		if is.Message == "" && is.Phase == v1alpha2.ExternalProviderReady && was.Phase == is.Phase && was.Image == is.Image {
			is.Message = was.Message
		}
	}
}

// find returns the entry for a provider in a list, or an empty entry.
func find(list []v1alpha2.ExternalProviderStatus, id string) v1alpha2.ExternalProviderStatus {
	i := slices.IndexFunc(list, func(one v1alpha2.ExternalProviderStatus) bool { return one.ProviderID == id })
	if i < 0 {
		return v1alpha2.ExternalProviderStatus{}
	}
	return list[i]
}

// reportExternal adds events for changes in the status of external providers.
func reportExternal(now, before []v1alpha2.ExternalProviderStatus, report *report.Report) {
	var failed, differ []string
	for i := range now {
		is, was := &now[i], find(before, now[i].ProviderID)
		if is.Message == "" || is.Message == was.Message && is.Phase == was.Phase {
			continue
		}
		note := fmt.Sprintf("External provider %q in image %q: %s", is.ProviderID, is.Image, is.Message)
		if is.Phase == v1alpha2.ExternalProviderFailed {
			failed = append(failed, note)
		} else {
			differ = append(differ, note)
		}
	}
	if len(failed) > 0 {
		report.Warning(v1alpha2.EventExternalProviderFailed, strings.Join(failed, "\n"))
	}
	if len(differ) > 0 {
		report.Warning(v1alpha2.EventExternalProviderDiffers, strings.Join(differ, "\n"))
	}
}
