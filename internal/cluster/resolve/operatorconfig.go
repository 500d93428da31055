package resolve

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// OperatorConfig reads the operator's ConfigMap. Every read uses the cache, so a later read never returns an older
// state.
type OperatorConfig struct {
	cache client.Reader
	name  types.NamespacedName

	mu     sync.Mutex
	read   bool
	uid    types.UID
	seen   string // resource version
	config operatorconfig.Config
	errs   field.ErrorList
}

// NewOperatorConfig returns a reader of the ConfigMap in the operator's namespace.
func NewOperatorConfig(cache client.Reader, namespace string) *OperatorConfig {
	return &OperatorConfig{cache: cache, name: types.NamespacedName{Namespace: namespace, Name: names.OperatorConfigMap}}
}

// Name returns the namespace and the name of the ConfigMap.
func (o *OperatorConfig) Name() types.NamespacedName { return o.name }

// Config returns the configuration in force, with the last valid state of each key.
func (o *OperatorConfig) Config(ctx context.Context) (operatorconfig.Config, error) {
	config, _, err := o.Read(ctx)
	return config, err
}

// Read returns the configuration in force and the errors in the ConfigMap.
func (o *OperatorConfig) Read(ctx context.Context) (operatorconfig.Config, field.ErrorList, error) {
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

// Create creates the ConfigMap if there is none, with only its documentation as content. An instance of the operator
// calls Create once, when it becomes the leader. It does not recreate a ConfigMap that is deleted later.
func (o *OperatorConfig) Create(ctx context.Context, c client.Client) error {
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
