package controller_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const derivedFromRedis = `{distribution: {name: starter}, storage: {kv: {type: redis, endpoint: "redis:6379", password: {secretKeyRef: {name: redis-creds, key: password}}}}}`

// storageSecretOf returns the Secret with derived values that the pods of a Deployment read.
func storageSecretOf(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil &&
			names.IsStorageSecret("my", from.SecretKeyRef.Name) {
			return from.SecretKeyRef.Name
		}
	}
	t.Fatalf("the pods read no derived value: %+v", deployment.Spec.Template.Spec.Containers[0].Env)
	return ""
}

// password changes the password of Redis.
func (b *bench) password(t *testing.T, value string) {
	t.Helper()
	changed := secret("redis-creds", "password", value)
	changed.Namespace = b.namespace
	if err := b.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
}

// reads waits until the pods of the Deployment read the password, and returns the name of the Secret that they read it
// from.
func (b *bench) reads(t *testing.T, value string) string {
	t.Helper()
	var name string
	eventually(t, func() error {
		deployment, derived := &appsv1.Deployment{}, &corev1.Secret{}
		b.get(t, "my", deployment)
		name = storageSecretOf(t, deployment)
		if err := b.Get(t.Context(), b.key(name), derived); err != nil {
			return err
		}
		if got := string(derived.Data["kv-password"]); got != value {
			return fmt.Errorf("the pods read %q from %q", got, name)
		}
		return nil
	})
	return name
}

// TestDerivedValuesChange checks that a running pod keeps the values that it started with, also when its container
// restarts: changed values are in another Secret, and the first Secret stays while a ReplicaSet needs it.
func TestDerivedValuesChange(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("redis-creds", "password", "one"))
	b.direct(t, "derived-values")
	b.create(t, b.stack(t, "my", derivedFromRedis))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	if name := b.reads(t, "one"); name != "my-storage" {
		t.Errorf("the first Secret is %q", name)
	}
	b.replicaSet(t, "my", appsv1.ReplicaSetStatus{})
	b.password(t, "two")
	second := b.reads(t, "two")
	b.settled(t, "derived-values")
	first := &corev1.Secret{}
	if b.get(t, "my-storage", first); string(first.Data["kv-password"]) != "one" {
		t.Errorf("pods that run read %q when they start again", first.Data["kv-password"])
	}
	b.password(t, "three")
	if third := b.reads(t, "three"); third == second {
		t.Errorf("the second and the third values are both in %q", third)
	}
	eventually(t, func() error { // no ReplicaSet reads the second one
		if err := b.Get(t.Context(), b.key(second), &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("secret %q is left: %w", second, err)
		}
		return nil
	})
}

// TestDerivedValuesOfAnEarlierOperator checks that the Secret of an earlier operator, which recorded no name, keeps its
// name, and that no pod is replaced for that.
func TestDerivedValuesOfAnEarlierOperator(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("redis-creds", "password", "one"))
	o := b.direct(t, "earlier")
	b.create(t, b.stack(t, "my", derivedFromRedis))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	o.stop(t)
	before, after := &appsv1.Deployment{}, &appsv1.Deployment{}
	b.get(t, "my", before)
	b.record(t, func(record map[string]any) {
		if record["storageSecret"] == nil {
			t.Error("the record names no Secret")
		}
		delete(record, "storageSecret")
	})
	b.direct(t, "derived-later")
	eventually(t, func() error {
		if b.get(t, "my", after); !strings.Contains(after.Annotations[names.AnnotationRendered], `"storageSecret":{"name":"my-storage"`) {
			return fmt.Errorf("record %s", after.Annotations[names.AnnotationRendered])
		}
		return nil
	})
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the Deployment changed (-before +after):\n%s", diff)
	}
}

// record edits the record on the Deployment.
func (b *bench) record(t *testing.T, edit func(map[string]any)) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	b.get(t, "my", deployment)
	before := deployment.DeepCopy()
	var record map[string]any
	if err := json.Unmarshal([]byte(deployment.Annotations[names.AnnotationRendered]), &record); err != nil {
		t.Fatal(err)
	}
	edit(record)
	edited, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	deployment.Annotations[names.AnnotationRendered] = string(edited)
	if err := b.Patch(t.Context(), deployment, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
