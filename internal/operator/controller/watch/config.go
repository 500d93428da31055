package watch

import (
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/metrics"
)

// byOperatorConfig maps a change to the operator's ConfigMap to the stacks that it affects, and reports errors in the
// ConfigMap.
func (s *Stacks) byOperatorConfig() handler.EventHandler {
	told := &toldConfig{} // the handlers of one source run sequentially
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		config, errs, err := s.settings.Read(ctx)
		if err != nil {
			log.FromContext(ctx).Error(err, "The operator's ConfigMap cannot be read")
			return nil
		}
		s.reportConfigErrors(ctx, object, told.news(errs))
		metrics.SetConfigErrors(errs)
		concern := concerned(told.config, config)
		told.config = config
		if concern == nil {
			return nil
		}
		return s.stacksWhere(ctx, concern)
	})
}

// toldConfig holds the last configuration of the operator, and the errors that were reported.
type toldConfig struct {
	config   operatorconfig.Config
	messages []string
}

// news returns the errors that have not been reported yet.
func (t *toldConfig) news(errs field.ErrorList) field.ErrorList {
	var news field.ErrorList
	messages := make([]string, 0, len(errs))
	for _, err := range errs {
		messages = append(messages, intent.Message(err))
		if !slices.Contains(t.messages, intent.Message(err)) {
			news = append(news, err)
		}
	}
	t.messages = messages
	return news
}

// concerned returns a function that reports whether a change to the configuration affects a stack. It returns nil if
// the change affects no stack.
func concerned(before, now operatorconfig.Config) func(*v1alpha2.LlamaStackDistribution) bool {
	images := operatorconfig.ImagesChanged(before, now)
	known := before.Unknown(operatorconfig.KeyImageOverrides) == now.Unknown(operatorconfig.KeyImageOverrides)
	sameRegistries := reflect.DeepEqual(before.Registries, now.Registries)
	sameFeatures := before.Features == now.Features
	sameExposure := reflect.DeepEqual(before.Ingress, now.Ingress) && reflect.DeepEqual(before.Gateway, now.Gateway) &&
		before.Unknown(operatorconfig.KeyIngress) == now.Unknown(operatorconfig.KeyIngress) &&
		before.Unknown(operatorconfig.KeyGateway) == now.Unknown(operatorconfig.KeyGateway)
	sameForAll := reflect.DeepEqual(before.Bounds, now.Bounds) &&
		before.Unknown(operatorconfig.KeyBounds) == now.Unknown(operatorconfig.KeyBounds)
	if len(images) == 0 && known && sameRegistries && sameFeatures && sameExposure && sameForAll {
		return nil
	}
	return func(stack *v1alpha2.LlamaStackDistribution) bool {
		return !known || !sameFeatures || slices.Contains(images, stack.Spec.Distribution.Name) || unknownToStatus(stack) ||
			(!sameRegistries && waitsForImage(stack)) || (!sameExposure && exposedStack(stack)) ||
			(!sameForAll && !sameBounds(before, now, stack.Namespace))
	}
}

// waitsForImage reports whether the stack's image could not be read, or must not be read.
func waitsForImage(stack *v1alpha2.LlamaStackDistribution) bool {
	generated := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionConfigGenerated)
	return generated != nil && (generated.Reason == v1alpha2.ReasonBaseConfigRequired ||
		generated.Reason == v1alpha2.ReasonBaseConfigUnavailable)
}

// unknownToStatus reports whether the stack's distribution is unknown according to the status. In this case, the status
// lists the available distributions.
func unknownToStatus(stack *v1alpha2.LlamaStackDistribution) bool {
	valid := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionValidationSucceeded)
	return valid != nil && valid.Reason == v1alpha2.ReasonUnknownDistribution
}

// stacksWhere returns requests for the cached stacks for which the function `concern` returns true. The options can
// restrict the list.
func (s *Stacks) stacksWhere(
	ctx context.Context, concern func(*v1alpha2.LlamaStackDistribution) bool, options ...client.ListOption,
) []reconcile.Request {
	var stacks v1alpha2.LlamaStackDistributionList
	if err := s.cache.List(ctx, &stacks, append(options, client.UnsafeDisableDeepCopy)...); err != nil { // read-only
		// The cache returns an error only when the operator starts. Every stack is reconciled at that time.
		log.FromContext(ctx).V(1).Info("Stacks cannot be listed yet", "error", err.Error())
		return nil
	}
	var requests []reconcile.Request
	for i := range stacks.Items {
		if concern(&stacks.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&stacks.Items[i])})
		}
	}
	return requests
}

// reportConfigErrors reports the errors in the ConfigMap as events and in the log.
func (s *Stacks) reportConfigErrors(ctx context.Context, configMap client.Object, errs field.ErrorList) {
	for _, err := range errs {
		key := operatorconfig.KeyOf(err)
		consequence := "the operator uses the last valid value of the key, if it has read one since it started"
		if !slices.Contains(operatorconfig.Keys(), key) {
			consequence = "the key has no effect"
		}
		log.FromContext(ctx).Error(err, "The operator's ConfigMap has an error; "+consequence,
			"configMap", s.settings.Name().String(), "key", key)
		s.recorder.Eventf(configMap, nil, corev1.EventTypeWarning, v1alpha2.EventInvalidOperatorConfig, "ReadConfig",
			"%s", status.Note(intent.Message(err)+"; "+consequence))
	}
}

// sameBounds reports whether a change to the operator's configuration leaves the bounds of a namespace unchanged,
// whatever its labels are.
func sameBounds(before, now operatorconfig.Config, namespace string) bool {
	return before.Unknown(operatorconfig.KeyBounds) == now.Unknown(operatorconfig.KeyBounds) &&
		reflect.DeepEqual(before.Bounds.Candidates(namespace), now.Bounds.Candidates(namespace))
}
