package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// recoveryTime bounds the time until a stack continues after a missing object is created.
const recoveryTime = 3 * time.Second

// TestMissingReferences checks that the objects that a spec refers to can be created after the stack and without a
// label. Until then, the operator creates no children, and the status names the missing object and the field that
// refers to it. When the objects exist, the stack continues without a change to its spec.
func TestMissingReferences(t *testing.T) {
	const (
		withSecret   = `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: creds, key: token}}}}}`
		withOverride = `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`
		withBase     = `{distribution: {name: starter}, baseConfig: {configMapName: mine, key: base.yaml}}`
	)
	for _, tc := range []struct {
		name, spec        string
		exists            client.Object
		condition, reason string
		message           string
		heal              client.Object
	}{
		{
			"Secret", withSecret, nil, v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretNotFound,
			`Secret "creds" not found in namespace "NS". Referenced by: spec.providers.inference.apiKey.secretKeyRef`,
			controllertest.NewSecret("creds", "token", "sk-abc"),
		},
		{
			"Secret's key", withSecret, controllertest.NewSecret("creds", "other", "x"), v1alpha2.ConditionSecretsResolved,
			v1alpha2.ReasonSecretKeyMissing,
			`Key "token" not found in Secret "creds" in namespace "NS". Referenced by: spec.providers.inference.apiKey.secretKeyRef`,
			controllertest.NewSecret("creds", "token", "sk-abc"),
		},
		{
			"ConfigMap of an override", withOverride, nil, v1alpha2.ConditionValidationSucceeded,
			v1alpha2.ReasonConfigMapNotFound,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.overrideConfig.configMapName`,
			controllertest.NewConfigMap("mine", "config.yaml", "distro_name: mine\nproviders: {}\n"),
		},
		{
			"key of a base", withBase, controllertest.NewConfigMap("mine", "config.yaml", "x"), v1alpha2.ConditionValidationSucceeded,
			v1alpha2.ReasonConfigMapKeyMissing,
			`Key "base.yaml" not found in ConfigMap "mine" in namespace "NS". Referenced by: spec.baseConfig.configMapName`,
			controllertest.NewConfigMap("mine", "base.yaml", "version: 2\napis: []\nproviders: {}\n"),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := controllertest.NewEnvironment(t)
			if tc.exists != nil {
				env.Create(t, tc.exists)
			}
			env.StartReconciler(t, "missing")
			env.Create(t, env.NewStack(t, "my", tc.spec))
			condition := env.WaitForCondition(t, "my", tc.condition, tc.reason)
			if diff := cmp.Diff(controllertest.InNamespace(tc.message, env.Namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if ready := env.WaitForCondition(t, "my", v1alpha2.ConditionReady, tc.reason); !strings.HasPrefix(ready.Message, tc.condition+" is ") {
				t.Errorf("message of Ready: %q", ready.Message)
			}
			env.CheckNoChildren(t)

			began := time.Now()
			if tc.exists != nil {
				tc.heal.SetNamespace(env.Namespace)
				env.Update(t, tc.heal)
			} else {
				env.Create(t, tc.heal)
			}
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if took := time.Since(began); took > recoveryTime {
				t.Errorf("continued after %v, want at most %v", took, recoveryTime)
			}
		})
	}
}

// TestSecretOfARunningStack checks that the operator reports the deletion of a Secret that a running stack uses, and
// that the pods do not change. The pods also do not change when the same Secret is created again, but they do change
// when its value is different.
func TestSecretOfARunningStack(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.StartReconciler(t, "secret-gone")
	env.CreateReadyStack(t, controllertest.SecretSpec)
	before := env.GetDeployment(t)

	env.Delete(t, &corev1.Secret{ObjectMeta: controllertest.ObjectMeta(env.Namespace, "vllm-creds")})
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonSecretNotFound)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid)
	env.WaitForCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitUntilIdle(t, "secret-gone")
	after := env.GetDeployment(t)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the Deployment changed:\n%s", diff)
	}

	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitUntilIdle(t, "secret-gone")
	env.Get(t, "my", after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the same Secret, created again, replaced the pods:\n%s", diff)
	}
	stack := env.GetStack(t)
	if meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded) != nil {
		t.Error("the condition Degraded still exists")
	}

	changed := controllertest.NewSecret("vllm-creds", "token", "sk-def")
	changed.Namespace = env.Namespace
	env.Update(t, changed)
	env.TerminateDeletedPods(t)
	pod := env.WaitForPreflightPod(t, nil) // the new value may be invalid
	env.AssignToNode(t, pod)
	env.SetPodStatus(t, pod, controllertest.ContainersReadyStatus())
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", after)
		now, then := after.Spec.Template.Annotations, before.Spec.Template.Annotations
		if now[names.AnnotationInputs] == then[names.AnnotationInputs] {
			return fmt.Errorf("the new value does not replace the pods")
		}
		return nil
	})
}

// TestCertificate checks that a server with a certificate is probed over HTTPS, and that the operator replaces the pods
// once when the certificate is renewed, because the server reads the certificate only at startup.
func TestCertificate(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewTLSSecret(t, "cert"))
	env.StartReconciler(t, "certificate")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`))
	resolved := env.WaitForCondition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonAllSecretsFound)
	if want := "Resolved 1 secret reference"; resolved.Message != want {
		t.Errorf("%q, want %q", resolved.Message, want)
	}
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.WaitUntilIdle(t, "certificate")
	stack, before := &v1alpha2.LlamaStackDistribution{}, &appsv1.Deployment{}
	env.Get(t, "my", stack)
	env.Get(t, "my", before)
	if want := "https://my-service." + env.Namespace + ".svc.cluster.local:8321"; stack.Status.ServiceURL != want {
		t.Errorf("service URL %q, want %q", stack.Status.ServiceURL, want)
	}
	if scheme := before.Spec.Template.Spec.Containers[0].ReadinessProbe.HTTPGet.Scheme; scheme != corev1.URISchemeHTTPS {
		t.Errorf("the scheme of the probe is %s", scheme)
	}

	renewed := controllertest.NewTLSSecret(t, "cert")
	renewed.Namespace = env.Namespace
	env.Update(t, renewed)
	after := &appsv1.Deployment{}
	controllertest.WaitUntil(t, func() error {
		env.Get(t, "my", after)
		if after.Generation == before.Generation {
			return fmt.Errorf("a renewed certificate does not replace the pods")
		}
		return nil
	})
	renewed.Annotations = map[string]string{"note": "pods do not read annotations"}
	env.Update(t, renewed)
	env.WaitUntilIdle(t, "certificate")
	env.Get(t, "my", after)
	if after.Generation != before.Generation+1 {
		t.Errorf("the Deployment changed %d times, want once", after.Generation-before.Generation)
	}
	for _, key := range []string{corev1.TLSPrivateKeyKey, corev1.TLSCertKey} {
		if text := fmt.Sprint(after, stack); strings.Contains(text, string(renewed.Data[key])) {
			t.Errorf("the status or the Deployment contains %s", key)
		}
	}
}

// TestOverride checks that a change to the configuration in an override replaces the pods, unless the server cannot
// start with the configuration.
func TestOverride(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.Create(t, controllertest.NewConfigMap("mine", "config.yaml", "distro_name: mine\nproviders: {}\n"))
	env.StartReconciler(t, "override")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonOverrideConfigUsed)
	before := env.GetDeployment(t)
	edit := func(config string) {
		changed := controllertest.NewConfigMap("mine", "config.yaml", config)
		changed.Namespace = env.Namespace
		env.Update(t, changed)
	}
	for config, message := range map[string]string{
		"version: [\n": "is not YAML",
		"distro_name: ${env.MINE}\nproviders: {}\n":            "the variable MINE is not set",
		"distro_name: mine\nproviders: {}\napis: [infrence]\n": `server release 0.7 has no API "infrence"`,
	} {
		edit(config)
		controllertest.WaitUntil(t, func() error {
			stack := env.GetStack(t)
			told := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionConfigGenerated)
			if told.Reason != v1alpha2.ReasonConfigGenerationFailed || !strings.Contains(told.Message, message) {
				return fmt.Errorf("ConfigGenerated is %s: %s", told.Reason, told.Message)
			}
			return nil
		})
		after := env.GetDeployment(t)
		if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
			t.Errorf("the Deployment after an edit with which no server starts (-before +after):\n%s", diff)
		}
	}
	edit("distro_name: mine\nproviders: {}\napis: [inference]\n")
	env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonOverrideConfigUsed)
	controllertest.WaitUntil(t, func() error {
		after := env.GetDeployment(t)
		now, then := after.Spec.Template.Annotations, before.Spec.Template.Annotations
		if now[names.AnnotationConfigHash] == then[names.AnnotationConfigHash] {
			return fmt.Errorf("the change of the override does not replace the pods")
		}
		return nil
	})
}
