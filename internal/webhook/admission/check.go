package admission

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/trial"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

type stack = v1alpha2.LlamaStackDistribution

// maxPlanned is the maximum size of a spec, in bytes of JSON, that the webhook compares with a server release. The time
// for the comparison grows with the spec, and the API server waits for the response. The operator itself compares
// larger specs.
const maxPlanned = 32 << 10

// findings holds the errors and warnings for a stack.
type findings struct {
	errs     field.ErrorList
	warnings []string
	// rendering holds the objects of the stack. It is nil if the webhook cannot render them.
	rendering *trial.Rendering
}

// check returns the findings that depend only on the stack and on the operator's configuration.
func (v *Validator) check(ctx context.Context, object *stack) findings {
	in, warnings, tolerated, errs := validate.Stored(object)
	found := findings{errs: append(errs, tolerated...), warnings: warnings}
	if len(errs) > 0 {
		return found
	}
	config, err := v.config(ctx)
	if err != nil {
		return found // the operator is starting; it makes the other checks when it reconciles the stack
	}
	resolved, err := v.resolve(object, config)
	if err != nil {
		found.errs = append(found.errs, field.Invalid(field.NewPath(distribution.Path(err)), object.Spec.Distribution.Name,
			err.Error()))
		return found
	}
	if errs := plan.Bounded(v.bounds(ctx, config, object.Namespace), object, resolved.Image); len(errs) > 0 {
		found.errs = append(found.errs, errs...)
		return found
	}
	if resolved.Base != nil && v.isCatalog(object, config) && isComparable(object) {
		v.compare(ctx, object, in, resolved, config, &found)
	}
	return found
}

// bounds returns the bounds of a namespace. It returns nil if they depend on labels that cannot be read. The operator
// then checks the bounds when it reconciles the stack.
func (v *Validator) bounds(ctx context.Context, config operatorconfig.Config, namespace string) *bounds.Rule {
	if !config.Bounds.NeedLabels(namespace) {
		return config.Bounds.For(namespace, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	labels, err := v.options.NamespaceLabels(ctx, namespace)
	if err != nil {
		return nil
	}
	return config.Bounds.For(namespace, labels)
}

// configPatience bounds the time for which a request waits for the operator's configuration, and for the labels of a
// namespace. The configuration is immediately available, except while the operator starts.
const configPatience = 200 * time.Millisecond

func (v *Validator) config(ctx context.Context) (operatorconfig.Config, error) {
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	return v.options.Config(ctx)
}

// resolve determines the image and the release as the operator does: a running stack keeps its image as long as its
// distribution name and version do not change and no override replaces the image.
func (v *Validator) resolve(object *stack, config operatorconfig.Config) (distribution.Resolved, error) {
	asked, images := object.Spec.Distribution, distribution.Overrides{}
	if in := object.Status.ResolvedDistribution; in != nil && in.Name == asked.Name && in.Version == asked.Version {
		recorded := in.Catalogue()
		current, err := distribution.Resolve(asked.Name, asked.Image, asked.Version, nil)
		if recorded != "" && (err != nil || current.Image != recorded) {
			images[asked.Name] = recorded
		}
	}
	maps.Copy(images, v.options.RelatedImages)
	maps.Copy(images, config.Images)
	return distribution.Resolve(asked.Name, asked.Image, asked.Version, images)
}

// isCatalog reports whether the image is in the catalog. The catalog contains the base configurations of its images, so
// the webhook does not need to read the labels of these images.
func (v *Validator) isCatalog(object *stack, config operatorconfig.Config) bool {
	asked := object.Spec.Distribution
	_, related := v.options.RelatedImages.Image(asked.Name, asked.Version)
	_, configured := config.Images.Image(asked.Name, asked.Version)
	return asked.Name != "" && !related && !configured && !config.Unknown(operatorconfig.KeyImageOverrides)
}

// isComparable reports whether the configuration depends only on the base and the spec, and whether the spec has at
// most maxPlanned bytes.
func isComparable(object *stack) bool {
	return object.Spec.OverrideConfig == nil && object.Spec.BaseConfig == nil && validate.SpecBytes(object) <= maxPlanned
}

// compare builds the plan of a stack to find settings that the stack's server release does not accept. It builds at
// most maxPlans plans at the same time, and one for each namespace. If ctx ends before compare can build the plan,
// compare adds no findings.
func (v *Validator) compare(
	ctx context.Context, object *stack, in *intent.Intent, resolved distribution.Resolved, config operatorconfig.Config,
	found *findings,
) {
	done, err := v.plans.Take(ctx, object.Namespace)
	if err != nil {
		return
	}
	defer done()
	trust, _ := plan.ReadTrust(object, nil)
	built, err := plan.Build(plan.Input{
		Object: object, Intent: in, Distribution: resolved, OpenShift: v.options.OpenShift, Cluster: v.cluster(config),
		Base:  &plan.Base{Data: resolved.Base, Source: v1alpha2.ConfigSourceEmbedded},
		Trust: trust,
	})
	if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
		found.errs = append(found.errs, refused.Errors...)
		return
	}
	if err != nil {
		return // This is a bug, which the operator reports.
	}
	for _, finding := range built.Warnings {
		if text := finding.String(); !slices.Contains(found.warnings, text) {
			found.warnings = append(found.warnings, text)
		}
	}
	if found.rendering, err = trial.New(object, built.Objects); err != nil {
		found.rendering = nil // This is a bug, which the operator reports.
	}
}

// cluster returns the settings in the operator's ConfigMap that apply to every stack. The webhook does not determine
// which optional kinds the cluster serves. A dry run of an object whose kind is not served has no effect.
func (v *Validator) cluster(config operatorconfig.Config) render.Cluster {
	return render.Cluster{
		NetworkPolicies: config.Features.NetworkPolicies, Ingress: render.Ingress(config.Ingress),
		Gateway: (*render.Gateway)(config.Gateway), Routes: v.options.OpenShift, HTTPRoutes: config.Gateway != nil,
		ExposureUnknown: config.Unknown(operatorconfig.KeyIngress) || config.Unknown(operatorconfig.KeyGateway),
	}
}

// prepared is the distribution that Prepare plans.
const prepared = "starter"

// Prepare loads the data for comparing a stack with its release, so that the first request is answered within the API
// server's timeout.
func (v *Validator) Prepare(ctx context.Context) {
	object := &stack{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: prepared}}
	object.Spec.Distribution.Name = prepared
	in, _, errs := validate.Spec(object)
	resolved, err := distribution.Resolve(prepared, "", "", nil)
	if err == nil && len(errs) == 0 {
		v.compare(ctx, object, in, resolved, operatorconfig.Config{}, &findings{})
	}
}
