package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/metrics"
)

// operatorConfig reads the operator's ConfigMap. Every read uses the cache, so a later read never returns an older
// state.
type operatorConfig struct {
	cache client.Reader
	name  types.NamespacedName

	mu     sync.Mutex
	read   bool
	uid    types.UID
	seen   string // resource version
	config operatorconfig.Config
	errs   field.ErrorList
}

func newOperatorConfig(cache client.Reader, namespace string) *operatorConfig {
	return &operatorConfig{cache: cache, name: types.NamespacedName{Namespace: namespace, Name: names.OperatorConfigMap}}
}

// NewConfigReader returns a function that reads the operator's ConfigMap from a cache, with the last valid state of
// each key. It is for callers outside the controller.
func NewConfigReader(cache client.Reader, namespace string) func(context.Context) (operatorconfig.Config, error) {
	state := newOperatorConfig(cache, namespace)
	return func(ctx context.Context) (operatorconfig.Config, error) {
		config, _, err := state.get(ctx)
		return config, err
	}
}

// get returns the configuration in force and the errors in the ConfigMap.
func (o *operatorConfig) get(ctx context.Context) (operatorconfig.Config, field.ErrorList, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	configMap := &corev1.ConfigMap{}
	err := o.cache.Get(ctx, o.name, configMap, client.UnsafeDisableDeepCopy) // read-only
	if apierrors.IsNotFound(err) {
		configMap, err = &corev1.ConfigMap{}, nil
	}
	if err != nil {
		return o.config, o.errs, fmt.Errorf("read the operator's ConfigMap %q: %w", o.name.Name, err)
	}
	if !o.read || configMap.UID != o.uid || configMap.ResourceVersion != o.seen {
		o.config, o.errs = operatorconfig.Read(configMap, o.config)
		o.read, o.uid, o.seen = true, configMap.UID, configMap.ResourceVersion
	}
	return o.config, o.errs, nil
}

// create creates the ConfigMap if there is none, with only its documentation as content. An instance of the operator
// calls create once, when it becomes the leader. It does not recreate a ConfigMap that is deleted later.
func (o *operatorConfig) create(ctx context.Context, c client.Client) error {
	err := o.cache.Get(ctx, o.name, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	err = c.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.name.Namespace, Name: o.name.Name},
		Data:       operatorconfig.Template(),
	}, client.FieldOwner(names.FieldManager))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the operator's ConfigMap %q: %w", o.name.Name, err)
	}
	return nil
}

// byOperatorConfig maps a change to the operator's ConfigMap to the stacks that it affects, and reports errors in the
// ConfigMap.
func (r *Reconciler) byOperatorConfig() handler.EventHandler {
	told := &toldConfig{} // the handlers of one source run sequentially
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		config, errs, err := r.config.get(ctx)
		if err != nil {
			log.FromContext(ctx).Error(err, "The operator's ConfigMap cannot be read")
			return nil
		}
		r.reportConfigErrors(ctx, object, told.news(errs))
		metrics.SetConfigErrors(errs)
		concern := concerned(told.config, config)
		told.config = config
		if concern == nil {
			return nil
		}
		return r.stacksWhere(ctx, concern)
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
func (r *Reconciler) stacksWhere(
	ctx context.Context, concern func(*v1alpha2.LlamaStackDistribution) bool, options ...client.ListOption,
) []reconcile.Request {
	var stacks v1alpha2.LlamaStackDistributionList
	if err := r.cache.List(ctx, &stacks, append(options, client.UnsafeDisableDeepCopy)...); err != nil { // read-only
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
func (r *Reconciler) reportConfigErrors(ctx context.Context, configMap client.Object, errs field.ErrorList) {
	for _, err := range errs {
		key := operatorconfig.KeyOf(err)
		consequence := "the operator uses the last valid value of the key, if it has read one since it started"
		if !slices.Contains(operatorconfig.Keys(), key) {
			consequence = "the key has no effect"
		}
		log.FromContext(ctx).Error(err, "The operator's ConfigMap has an error; "+consequence,
			"configMap", r.config.name.String(), "key", key)
		r.recorder.Eventf(configMap, nil, corev1.EventTypeWarning, v1alpha2.EventInvalidOperatorConfig, "ReadConfig",
			"%s", status.Note(intent.Message(err)+"; "+consequence))
	}
}
