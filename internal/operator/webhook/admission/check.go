package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/trial"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

type stack = v1alpha2.LlamaStackDistribution

// maxPlanned is the maximum size of a spec, in bytes of JSON, that the webhook compares with a server release, and of
// the configuration in a ConfigMap of the user. The time for the comparison grows with both, and the API server waits
// for the response. The operator itself compares larger ones.
const maxPlanned = 32 << 10

// findings holds the errors and warnings for a stack.
type findings struct {
	errs     field.ErrorList
	warnings []string
	// rendering holds the objects of the stack. It is nil if the webhook cannot render them.
	rendering *trial.Rendering
	// places contains the places of the stack's data. It is nil if they are unknown.
	places *retention.Places
}

// check returns the findings about a stack. The parameter before contains the places of the data of the stored stack.
func (v *Validator) check(ctx context.Context, object *stack, before *retention.Places) findings {
	in, warnings, tolerated, errs := validate.Stored(object)
	found := findings{errs: append(errs, tolerated...), warnings: warnings}
	if len(errs) > 0 {
		return found
	}
	config, err := v.config(ctx)
	if err != nil {
		return found // the operator is starting; it makes the other checks when it reconciles the stack
	}
	image, err := (&facts.Running{Status: object.Status}).Image(object.Spec.Distribution,
		facts.NewOverrides(v.options.RelatedImages, config))
	if err != nil {
		found.errs = append(found.errs, field.Invalid(field.NewPath(distribution.Path(err)), object.Spec.Distribution.Name,
			err.Error()))
		return found
	}
	if errs := plan.Bounded(v.bounds(ctx, config, object.Namespace), object, image.Distribution.Image); len(errs) > 0 {
		found.errs = append(found.errs, errs...)
		return found
	}
	if validate.SpecBytes(object) <= maxPlanned && v.exists(ctx, object.Namespace) {
		v.compare(ctx, plan.Input{
			Object: object, Intent: in, Distribution: image.Distribution, OpenShift: v.options.OpenShift,
			Cluster: facts.Platform{OpenShift: v.options.OpenShift}.Cluster(config), Before: before,
			Unread: image.Distribution.Base == nil || image.From != v1alpha2.ImageFromCatalogue,
		}, &found)
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

// compare builds the plan of a stack to find settings that the stack's server release does not accept, and the warnings
// that the operator reports later in the status. It builds at most maxPlans plans at the same time, and one for each
// namespace. If ctx ends before compare can build the plan, compare adds no findings.
func (v *Validator) compare(ctx context.Context, in plan.Input, found *findings) {
	done, err := v.plans.Take(ctx, in.Object.Namespace)
	if err != nil {
		return
	}
	defer done()
	if !in.Unread {
		in.Base = &plan.Base{Data: in.Distribution.Base, Source: v1alpha2.ConfigSourceEmbedded}
	}
	if !v.readOwn(ctx, &in) {
		return
	}
	in.Trust, _ = plan.ReadTrust(in.Object, nil)
	built, err := plan.Build(in)
	if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
		found.refuse(refused, &in)
		return
	}
	if err != nil {
		return // This is a bug, which the operator reports.
	}
	found.places = built.Places
	if usesConfigMap(in.Object) {
		found.count(&in, built.Warnings, len(built.Losses))
		return
	}
	found.warnings = plan.Warnings(found.warnings, built.Warnings)
	for _, loss := range built.Losses {
		found.warnings = append(found.warnings, loss.String())
	}
	if in.Unread {
		return // the objects depend on the labels of the image
	}
	if found.rendering, err = trial.New(in.Object, built.Objects); err != nil {
		found.rendering = nil // This is a bug, which the operator reports.
	}
}

// refuse adds the errors of a plan. They are only warnings if they can depend on a ConfigMap, because tools apply
// objects in any order.
func (f *findings) refuse(refused *plan.ConfigError, in *plan.Input) {
	if usesConfigMap(in.Object) {
		f.count(in, refused.Warnings, max(len(refused.Errors), 1))
		return
	}
	f.errs = append(f.errs, refused.Errors...)
}

// count adds the number of findings about the user's configuration. The webhook cannot authenticate its clients, so it
// does not show the findings themselves: they repeat names in a ConfigMap that the client may not be allowed to read.
// The finding about the exposure contains no such name.
func (f *findings) count(in *plan.Input, warnings []stackconfig.Finding, others int) {
	hidden := others
	for _, warning := range warnings {
		switch {
		case strings.HasPrefix(warning.Path, "spec.networking.expose"):
			f.warnings = plan.Warnings(f.warnings, []stackconfig.Finding{warning})
		case !slices.Contains(f.warnings, warning.String()):
			hidden++
		}
	}
	if hidden > 0 {
		field := "spec.overrideConfig"
		if in.Object.Spec.BaseConfig != nil {
			field = "spec.baseConfig"
		}
		f.warnings = append(f.warnings, fmt.Sprintf("%s: the configuration has problems (%d); kubectl llamastack validate and "+
			"the status show them", field, hidden))
	}
}

// usesConfigMap reports whether the configuration depends on a ConfigMap of the user.
func usesConfigMap(object *stack) bool {
	return object.Spec.OverrideConfig != nil || object.Spec.BaseConfig != nil
}

// readOwn adds the content of the ConfigMap with the user's configuration to the input of a plan. It returns false if
// the content is not known: if the ConfigMap is in another namespace, does not exist, cannot be read soon or is large.
func (v *Validator) readOwn(ctx context.Context, in *plan.Input) bool {
	if !usesConfigMap(in.Object) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, configPatience)
	defer cancel()
	contents := map[string]map[string][]byte{}
	for _, use := range intent.ConfigMaps(in.Object) {
		if use.Purpose == intent.PurposeCABundle || use.Namespace != "" {
			continue
		}
		configMap, err := v.options.ConfigMap(ctx, client.ObjectKey{Namespace: in.Object.Namespace, Name: use.Name})
		if err != nil {
			return false
		}
		contents[use.ID()] = plan.Files(configMap.BinaryData, configMap.Data)
	}
	if in.Override = plan.ReadOverride(in.Object, contents); in.Override != nil {
		return in.Override.Data != nil && len(in.Override.Data) <= maxPlanned
	}
	in.Base = plan.ReadBase(in.Object, contents)
	return in.Base != nil && len(in.Base.Data) <= maxPlanned
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
		v.compare(ctx, plan.Input{Object: object, Intent: in, Distribution: resolved}, &findings{})
	}
}
