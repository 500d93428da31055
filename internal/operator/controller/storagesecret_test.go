package controller_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// redisPasswordSpec is the spec of a stack with values that are derived from the Redis password.
const redisPasswordSpec = `{distribution: {name: starter}, storage: {kv: {type: redis, endpoint: "redis:6379", password: {secretKeyRef: {name: redis-creds, key: password}}}}}`

// setPassword changes the Redis password.
func setPassword(t *testing.T, env *controllertest.Environment, value string) {
	t.Helper()
	changed := controllertest.NewSecret("redis-creds", "password", value)
	changed.Namespace = env.Namespace
	env.Update(t, changed)
}

// waitForPassword waits until the pods of the Deployment read the password, and returns the name of the Secret that
// they read it from.
func waitForPassword(t *testing.T, env *controllertest.Environment, value string) string {
	t.Helper()
	var name string
	controllertest.WaitUntil(t, func() error {
		deployment, derived := &appsv1.Deployment{}, &corev1.Secret{}
		env.Get(t, "my", deployment)
		name = controllertest.StorageSecretOf(t, deployment)
		if err := env.Client.Get(t.Context(), env.Key(name), derived); err != nil {
			return err
		}
		if got := string(derived.Data["kv-password"]); got != value {
			return fmt.Errorf("the pods read %q from %q", got, name)
		}
		return nil
	})
	return name
}

// TestDerivedValuesChange checks that a running pod keeps the values that it started with, even when its container
// restarts. Changed values are in a different Secret, and the first Secret is kept while a ReplicaSet needs it.
func TestDerivedValuesChange(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewSecret("redis-creds", "password", "one"))
	env.StartReconciler(t, "derived-values")
	env.Create(t, env.NewStack(t, "my", redisPasswordSpec))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	first := waitForPassword(t, env, "one")
	env.CreateReplicaSet(t, "my", appsv1.ReplicaSetStatus{})
	setPassword(t, env, "two")
	second := waitForPassword(t, env, "two")
	env.WaitUntilIdle(t, "derived-values")
	before := &corev1.Secret{}
	if env.Get(t, first, before); string(before.Data["kv-password"]) != "one" {
		t.Errorf("running pods read %q when they restart", before.Data["kv-password"])
	}
	setPassword(t, env, "three")
	waitForPassword(t, env, "three")
	controllertest.WaitUntil(t, func() error { // no ReplicaSet reads the second Secret
		if err := env.Client.Get(t.Context(), env.Key(second), &corev1.Secret{}); client.IgnoreNotFound(err) != nil ||
			err == nil {
			return fmt.Errorf("secret %q still exists: %w", second, err)
		}
		return nil
	})
}
