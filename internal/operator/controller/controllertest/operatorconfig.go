package controllertest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// SetOperatorConfig sets one key of the operator's ConfigMap, which must be in the test's namespace
// (OwnOperatorConfig). It waits until the ConfigMap exists. An empty value removes the key.
func (env *Environment) SetOperatorConfig(t *testing.T, key, value string) {
	t.Helper()
	WaitUntil(t, func() error { // an operator may still have to create the ConfigMap
		config := &corev1.ConfigMap{}
		if err := env.Client.Get(t.Context(), env.Key(names.OperatorConfigMap), config); err != nil {
			return err
		}
		patch := client.MergeFrom(config.DeepCopy())
		delete(config.Data, key)
		if value != "" {
			config.Data[key] = value
		}
		return env.Client.Patch(t.Context(), config, patch)
	})
}

// createOperatorConfig creates the operator's ConfigMap unless it exists, as an operator does when it starts.
func (env *Environment) createOperatorConfig(t *testing.T) {
	t.Helper()
	config := &corev1.ConfigMap{
		ObjectMeta: ObjectMeta(env.Namespace, names.OperatorConfigMap), Data: operatorconfig.Template(),
	}
	if err := env.Client.Create(t.Context(), config); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
