package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// externalProviders returns the external providers in the plan, or all those in the spec if there is no plan, with the
// metadata that the operator read from their images. It returns nil if the spec is invalid.
func (s *state) externalProviders() []status.ExternalProvider {
	if s.intent == nil {
		return nil
	}
	return externalProviders(s.intent, s.planned.plan, s.external.Packages)
}

// externalProviders returns the external providers that a plan installs, or all those in the spec if there is no plan.
func externalProviders(
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

// observeExternal writes the progress of the external providers in the pods to the status, and adds events about
// changes.
func (r *Reconciler) observeExternal(
	ctx context.Context, s *state, external []status.ExternalProvider, pods []corev1.Pod, answer probe.Answer,
	failure *status.Failure,
) error {
	if s.intent == nil { // the spec is invalid
		return nil
	}
	now, before := &s.stack.Status, s.stack.Status.ExternalProviders
	if len(external) == 0 {
		now.ExternalProviders = nil
		return nil
	}
	var inTry []corev1.Pod
	if isTry(failure) {
		var err error
		if inTry, err = tried(ctx, s.stack, r.cache); err != nil {
			return err
		}
	}
	live := s.live()
	judged, until := status.ExternalProviders(status.ExternalInput{
		Providers: external, Deployment: live.Deployment, ReplicaSets: live.ReplicaSets, Pods: pods, Tried: inTry,
		Listed: answer.Providers, Now: r.now(),
	})
	if !until.IsZero() {
		s.report.Requeue(until)
	}
	if !answer.Concluded {
		keepWarnings(judged, before)
	}
	now.ExternalProviders = judged
	reportExternal(judged, before, &s.report)
	return nil
}

// isTry reports whether a failure means that a preflight pod is testing a change, or that the change failed in such a
// pod.
func isTry(failure *status.Failure) bool {
	return failure != nil && (failure.Reason == v1alpha2.ReasonPreflightInProgress ||
		failure.Reason == v1alpha2.ReasonPreflightFailed)
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
