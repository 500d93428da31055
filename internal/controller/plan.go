package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// plan makes the configuration and every object, all of it pure but for the memory of
// a stack whose Deployment is gone.
func (r *Reconciler) plan(ctx context.Context, s *state) error {
	if err := r.recall(ctx, s); err != nil {
		return err
	}
	s.storageSecret = s.running.StorageSecret
	if err := r.build(ctx, s, false); err != nil {
		return err
	}
	if err := derive(s); err != nil {
		return err
	}
	if chosen := s.chooseStorageSecret(); !equality.Semantic.DeepEqual(chosen, s.storageSecret) {
		s.storageSecret = chosen
		if err := r.build(ctx, s, false); err != nil {
			return err
		}
	}
	reason, message := generated(s)
	s.holds(v1alpha2.ConditionConfigGenerated, reason, message)
	if s.object.Status.ObservedGeneration != s.object.Generation {
		s.events = append(s.events, warnings(s.planned.Warnings)...)
	}
	return nil
}

// warnings tells what the configuration is warned of: in an event of its own
// what of the spec has no effect.
func warnings(findings []stackconfig.Finding) []event {
	var ignored, others []string
	for _, finding := range findings {
		if finding.Ignored {
			ignored = append(ignored, finding.String())
		} else {
			others = append(others, finding.String())
		}
	}
	var events []event
	if len(ignored) > 0 {
		events = append(events, warn(v1alpha2.EventProviderIgnored, strings.Join(ignored, "\n")))
	}
	if len(others) > 0 {
		events = append(events, warn(v1alpha2.EventConfigWarning, strings.Join(others, "\n")))
	}
	return events
}

func (r *Reconciler) build(ctx context.Context, s *state, longName bool) error {
	cluster, err := r.cluster(ctx, s)
	if err != nil {
		return err
	}
	s.cluster = cluster
	if s.earlierHost, err = r.hasEarlierHost(ctx, s.object, cluster); err != nil {
		return err
	}
	if err := r.findRival(ctx, s); err != nil {
		return err
	}
	input := plan.Input{
		Object: s.object, Distribution: s.distribution, Digest: s.digest, CatalogueImage: s.catalogueImage,
		RunningRelease: s.running.Distribution.Release, Before: s.running.Places, Base: s.baseConfig, Override: override(s),
		References: s.references, OperatorVersion: r.version, LongConfigMapName: longName, OpenShift: r.openShift, Cluster: cluster, Certificates: s.certificates, Unexposed: s.rival != nil,
		Bounds:        s.config.Bounds.For(s.object.Namespace),
		StorageSecret: s.storageSecret,
		EarlierHost:   s.earlierHost,
	}
	planned, err := r.largePlans.build(ctx, input)
	if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
		failure := &status.Failure{
			Condition: refused.Condition, Reason: refused.Reason, Message: refused.Error(), Retry: status.OnObjectChange, Err: err,
		}
		if s.object.Spec.BaseConfig != nil || s.object.Spec.OverrideConfig != nil {
			failure.Retry = status.OnReferenceChange
		}
		return failure
	}
	if err != nil {
		return fmt.Errorf("build plan: %w", err)
	}
	s.planned = planned
	return nil
}

func override(s *state) *plan.Override {
	given := s.object.Spec.OverrideConfig
	if given == nil {
		return nil
	}
	use := intent.OverrideUse(s.object)
	files := s.configMaps[use.ID()]
	key := intent.OverrideKey(s.object, files)
	return &plan.Override{Namespace: use.Namespace, ConfigMapName: use.Name, Key: key, Data: files[key], Files: files}
}

// generated says how the configuration came about.
func generated(s *state) (reason, message string) {
	switch s.planned.Mode {
	case plan.ModeOverride:
		how := "is used as it is"
		if s.planned.Config != nil {
			how = "is used in a copy"
			if set := setInCopy(s.intent.Server); set != "" {
				how += ", with " + set + " set"
			}
		}
		return v1alpha2.ReasonOverrideConfigUsed, fmt.Sprintf("ConfigMap %q %s", s.object.Spec.OverrideConfig.ConfigMapName, how)
	case plan.ModeImageDefault:
		return v1alpha2.ReasonDistributionDefaultUsed, "The image's own configuration runs unchanged"
	default:
		noun := "model"
		if len(s.intent.Tools)+len(s.intent.Shields) > 0 {
			noun = "resource"
		}
		return v1alpha2.ReasonConfigGenerationSucceeded, fmt.Sprintf("Generated config.yaml with %s and %s",
			count(int(s.planned.ProviderCount), "provider"), count(int(s.planned.ResourceCount), noun))
	}
}

// setInCopy names what a copy of an override has that its ConfigMap has not.
func setInCopy(server intent.Server) string {
	var set []string
	if server.Workers > 1 {
		set = append(set, "the number of workers")
	}
	if server.TLS != nil {
		set = append(set, "the certificate")
	}
	return strings.Join(set, " and ")
}
