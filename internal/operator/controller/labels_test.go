package controller_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestRunningLabels checks that a stack whose image has labels keeps the image at its digest and the configuration that
// was read, even if the registry does not respond and the spec changes.
func TestRunningLabels(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	r, operator := env.StartOperatorWithRegistry(t)
	image, digest := r.PushImage(t, "team/own:prod", controllertest.ConfigLabels("0.7.3"))
	env.Create(t, env.NewStack(t, "my", fmt.Sprintf(`{distribution: {image: %q}, resources: {models: [gpt-4o-mini]}}`, image)))
	env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	waitForPinnedImage(t, env, image+"@"+digest, "")
	before := len(env.WaitUntilIdle(t, "labels"))
	stack := env.GetStack(t)
	got := stack.Status.ResolvedDistribution
	if got.Image != image || got.Digest != digest || got.ConfigSource != v1alpha2.ConfigSourceOCILabel ||
		got.ServerRelease != "0.7" || got.ServerReleaseFrom != "image-label" {
		t.Errorf("status %+v", got)
	}

	// A restart of the operator without the registry causes no write.
	r.Down.Store(true)
	asked := r.Requests.Load()
	operator.Stop(t)
	env.StartOperator(t, "labels")
	if calls := env.WaitUntilIdle(t, "labels")[before:]; controllertest.HasWrites(calls) {
		t.Errorf("a restart without the registry caused writes: %q", calls)
	}
	if r.Requests.Load() != asked {
		t.Error("an image is read again")
	}
	// A change to the spec uses the configuration that was read.
	env.UpdateSpec(t, "my", fmt.Sprintf(`{distribution: {image: %q}, resources: {models: [gpt-4o-mini, gpt-4.1]}}`, image))
	controllertest.WaitUntil(t, func() error {
		var deployment appsv1.Deployment
		env.Get(t, "my", &deployment)
		env.Get(t, "my", stack)
		generated := stack.Status.ConfigGeneration
		if deployment.Spec.Template.Spec.Containers[0].Image != image+"@"+digest || generated == nil ||
			generated.ResourceCount != 2 {
			return fmt.Errorf("image %q, configuration %+v", deployment.Spec.Template.Spec.Containers[0].Image, generated)
		}
		return nil
	})
}

// TestLabelsOfAnOverride checks that the configuration that was read for a known distribution is kept when the registry
// is down and the status and the stored base are deleted.
func TestLabelsOfAnOverride(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	r, operator := env.StartReconcilerWithRegistry(t)
	image, digest := r.PushImage(t, "team/starter:0.7.1", controllertest.ConfigLabels("0.7.3"))
	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: "+image)
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [gpt-4o-mini]}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.WaitUntilIdle(t, "labels")
	before, stack := &appsv1.Deployment{}, &v1alpha2.LlamaStackDistribution{}
	env.Get(t, "my", before)
	if got := before.Spec.Template.Spec.Containers[0].Image; got != image+"@"+digest {
		t.Fatalf("image %q, want it pinned to %s", got, digest)
	}
	operator.Stop(t)

	r.Down.Store(true)
	env.Get(t, "my", stack)
	patch := client.MergeFrom(stack.DeepCopy())
	stack.Status = v1alpha2.LlamaStackDistributionStatus{}
	env.PatchStatus(t, stack, patch)
	operator = env.StartReconciler(t, "labels-2")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	for _, call := range controllertest.ListWrites(env.WaitUntilIdle(t, "labels-2")) {
		if call != "patch llamastackdistributions status my" {
			t.Errorf("a start without the registry and the status caused a write other than that of the status: %s", call)
		}
	}
	env.Get(t, "my", stack)
	if got := stack.Status.ResolvedDistribution; got == nil || got.Digest != digest ||
		got.ServerReleaseFrom != "image-label" ||
		got.ConfigSource != v1alpha2.ConfigSourceOCILabel {
		t.Errorf("status %+v", got)
	}
	operator.Stop(t)

	// The pods keep their configuration although the base is deleted and the registry is down.
	base := controllertest.NewConfigMap(baseConfigMapOf(t, before), "", "")
	base.Namespace = env.Namespace
	env.Delete(t, base)
	operator = env.StartReconciler(t, "labels-down")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonBaseConfigUnavailable)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonBaseConfigStale)
	env.WaitUntilIdle(t, "labels-down")
	after := env.GetDeployment(t)
	if before.ResourceVersion != after.ResourceVersion {
		t.Error("the Deployment was written")
	}
	operator.Stop(t)

	// The operator reads the running image again, even if the tag of the image has moved.
	r.Down.Store(false)
	r.PushImage(t, "team/starter:0.7.1", map[string]string{controllertest.ConfigLabel: "bm90aGluZw==", controllertest.ReleaseLabel: "9.0"})
	env.StartReconciler(t, "labels-3")
	controllertest.WaitUntil(t,
		func() error { return env.Client.Get(t.Context(), env.Key(base.Name), &corev1.ConfigMap{}) })
	env.Get(t, "my", after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the template changed (-before +after):\n%s", diff)
	}
}

// baseConfigMapOf returns the name of the ConfigMap that keeps the base of a Deployment.
func baseConfigMapOf(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	known, ok := rollout.Parse(deployment.Annotations)
	if !ok || known.BaseConfigMap == "" {
		t.Fatalf("no base in the record %+v", known)
	}
	return known.BaseConfigMap
}

// TestUnreadableImages checks the condition of a stack whose image cannot be read, and that the stack continues when
// the image can be read.
func TestUnreadableImages(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	r, _ := env.StartReconcilerWithRegistry(t)
	image, _ := r.PushImage(t, "team/own:0.7.3", controllertest.ConfigLabels(""))
	bare, _ := r.PushImage(t, "team/bare:0.7.3", nil)
	wrong, _ := r.PushImage(t, "team/wrong:0.7.3", map[string]string{controllertest.ConfigLabel: "***"})
	old, _ := r.PushImage(t, "team/old:0.7.3", map[string]string{controllertest.ConfigLabel: base64.StdEncoding.EncodeToString([]byte("version: 3\n"))})
	versioned, _ := r.PushImage(t, "team/versioned:0.7.3", map[string]string{controllertest.ConfigLabel: controllertest.ConfigLabels("")[controllertest.ConfigLabel], "io.llamastack.config.version": "4"})
	r.Down.Store(true)
	env.Create(t, env.NewStack(t, "waits", fmt.Sprintf(`{distribution: {image: %q}, disabled: [safety]}`, image)))
	got := env.WaitForCondition(t, "waits", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
	controllertest.WaitUntil(t, func() error {
		got = env.WaitForCondition(t, "waits", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
		if got.Status != metav1.ConditionUnknown || !strings.Contains(got.Message, "503") ||
			!strings.Contains(got.Message, "spec.baseConfig") {
			return fmt.Errorf("condition %+v", got)
		}
		return nil
	})
	if ready := env.WaitForCondition(t, "waits", v1alpha2.ConditionReady, v1alpha2.ReasonBaseConfigUnavailable); ready.Message != "ConfigGenerated is Unknown; its message contains the details" {
		t.Errorf("ready %+v", ready)
	}
	// This stack does not need the configuration.
	env.Create(t, env.NewStack(t, "runs", fmt.Sprintf(`{distribution: {image: %q}}`, image)))
	env.WaitForCondition(t, "runs", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed)
	// A known distribution starts with the operator's own copy of the base.
	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: "+image)
	env.Create(t, env.NewStack(t, "named", `{distribution: {name: starter}, disabled: [batches]}`))
	env.WaitForCondition(t, "named", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	waitForUnreadableEvent(t, env, "named", image, "503", `"starter" configuration for release 0.7`, "imagePullSecrets")

	r.Down.Store(false)
	// A change to the operator's configuration causes another attempt immediately instead of after half a minute.
	env.SetOperatorConfig(t, operatorconfig.KeyRegistries, fmt.Sprintf("{insecure: [%q], allow: [%q]}", r.Host, r.Host))
	env.WaitForCondition(t, "waits", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	env.DeleteStacks(t) // WaitUntil reconciles all stacks before every check

	for _, tc := range []struct{ name, image, reason, message string }{
		{"bare", bare, v1alpha2.ReasonMissingConfigLabels, "Distribution image " + bare + " missing config labels. Add labels using `crane mutate` or use `overrideConfig` " +
			"to provide configuration manually. See docs/configuration.md for details."},
		{"wrong", wrong, v1alpha2.ReasonBaseConfigUnavailable, `label "io.llamastack.config.base64": the value is not base64`},
		{"old", old, v1alpha2.ReasonUnsupportedConfigVersion, "Unsupported config.yaml version 3. Supported versions: 1, 2"},
		{"versioned", versioned, v1alpha2.ReasonUnsupportedConfigVersion, "Unsupported config.yaml version 4. Supported versions: 1, 2"},
		{"none", r.Host + "/team/none:1", v1alpha2.ReasonBaseConfigUnavailable, "NAME_UNKNOWN"},
		{"elsewhere", "elsewhere.example.com/a/b:1", v1alpha2.ReasonBaseConfigUnavailable, "is not in registries.allow"},
	} {
		env.Create(t, env.NewStack(t, tc.name, fmt.Sprintf(`{distribution: {image: %q}, disabled: [safety]}`, tc.image)))
		controllertest.WaitUntil(t, func() error {
			got := env.WaitForCondition(t, tc.name, v1alpha2.ConditionConfigGenerated, tc.reason)
			if got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, tc.message) {
				return fmt.Errorf("%s: condition %+v, want %q", tc.name, got, tc.message)
			}
			return nil
		})
		env.DeleteStacks(t)
	}
}

// TestUnreadableImageOfAnOlderStack checks that a v1alpha1 stack that sets only workers still runs without the
// configuration of its image. When the registry responds again, no pods restart before the next change to the spec.
func TestUnreadableImageOfAnOlderStack(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	r, operator := env.StartReconcilerWithRegistry(t)
	image, _ := r.PushImage(t, "team/own:0.7.3", controllertest.ConfigLabels(""))
	r.Down.Store(true)
	older := env.NewStack(t, "my", fmt.Sprintf(`{distribution: {image: %q}, workload: {workers: 2}}`, image))
	older.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	env.Create(t, older)
	env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed)
	waitForUnreadableEvent(t, env, "my", image, "503", "spec.server.workers has no effect")
	env.WaitUntilIdle(t, "labels")
	before := env.GetDeployment(t)
	operator.Stop(t)

	r.Down.Store(false)
	asked := r.Requests.Load()
	env.StartReconciler(t, "labels-back")
	env.WaitUntilIdle(t, "labels-back")
	env.CheckDeploymentUnchanged(t, before)
	if now := r.Requests.Load(); now != asked {
		t.Errorf("%d requests to the registry, want none", now-asked)
	}
	env.UpdateStack(t, "my",
		func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Workload.Workers = ptr.To[int32](3) })
	env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
}

// waitForUnreadableEvent waits for exactly one event about an unreadable image of the stack. The event must contain the
// given parts.
func waitForUnreadableEvent(t *testing.T, env *controllertest.Environment, name string, parts ...string) {
	t.Helper()
	controllertest.WaitUntil(t, func() error {
		var notes []string
		for _, event := range env.ListEvents(t) {
			if event.Reason == v1alpha2.EventImageLabelsUnreadable && event.Regarding.Name == name {
				notes = append(notes, event.Type+" "+event.Note)
			}
		}
		if len(notes) != 1 || !strings.HasPrefix(notes[0], "Warning ") {
			return fmt.Errorf("events %q, want one warning", notes)
		}
		for _, part := range parts {
			if !strings.Contains(notes[0], part) {
				return fmt.Errorf("event %q, want it to contain %q", notes[0], part)
			}
		}
		return nil
	})
}

// TestPullSecrets checks that a stack that uses the pull Secret, directly or through its ServiceAccount, can read a
// private repository, and that no other stack can read it, even after the first stack has read it.
func TestPullSecrets(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	r, _ := env.StartReconcilerWithRegistry(t)
	image, _ := r.PushImage(t, "team/closed:0.7.3", controllertest.ConfigLabels(""))
	password := "s3cret-pull"
	r.Password.Store(&password)
	auth := base64.StdEncoding.EncodeToString([]byte("robot:" + password))
	env.Create(t,
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
			StringData: map[string]string{corev1.DockerConfigJsonKey: fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, r.Host, auth)},
		},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: "old"}, Type: corev1.SecretTypeDockercfg,
			StringData: map[string]string{corev1.DockerConfigKey: fmt.Sprintf(`{%q:{"auth":%q}}`, r.Host, auth)},
		},
		&corev1.ServiceAccount{
			ObjectMeta:       metav1.ObjectMeta{Namespace: env.Namespace, Name: "puller"},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		})
	spec := `{distribution: {image: %q}, disabled: [safety], workload: {overrides: %s}}`
	env.Create(t,
		env.NewStack(t, "secret", fmt.Sprintf(spec, image, "{imagePullSecrets: [{name: pull}]}")),
		env.NewStack(t, "old", fmt.Sprintf(spec, image, "{imagePullSecrets: [{name: old}]}")),
		env.NewStack(t, "account", fmt.Sprintf(spec, image, "{serviceAccountName: puller}")))
	env.WaitForCondition(t, "secret", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	env.WaitForCondition(t, "old", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	env.WaitForCondition(t, "account", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
	env.Create(t, env.NewStack(t, "stranger", fmt.Sprintf(spec, image, "{imagePullSecrets: [{name: another}]}")))
	controllertest.WaitUntil(t, func() error {
		got := env.WaitForCondition(t, "stranger", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonBaseConfigUnavailable)
		if got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, "401") ||
			strings.Contains(got.Message, password) {
			return fmt.Errorf("condition %+v", got)
		}
		return nil
	})
}
