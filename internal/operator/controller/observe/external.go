package observe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

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
