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
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// healing bounds how long a stack may take to notice that a missing object exists.
const healing = 3 * time.Second

// nothingApplied fails if the namespace holds any child.
func (b *bench) nothingApplied(t *testing.T) {
	t.Helper()
	labels := client.MatchingLabels{names.LabelManagedBy: names.ManagedBy}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.SecretList{},
	} {
		if err := b.List(t.Context(), list, client.InNamespace(b.namespace), labels); err != nil {
			t.Fatal(err)
		}
		if n := meta.LenList(list); n > 0 {
			t.Errorf("%T holds %d children, want none", list, n)
		}
	}
}

// TestMissingReferences checks that the objects that a spec refers to may be created later, in any order and without a
// label. Until then, nothing is applied, the status names the missing object and the field that refers to it, and no
// change of the stack is needed to continue.
func TestMissingReferences(t *testing.T) {
	const (
		withSecret   = `{distribution: {name: starter}, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: creds, key: token}}}}}`
		withOverride = `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`
		withTLS      = `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`
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
			secret("creds", "token", "sk-abc"),
		},
		{
			"Secret's key", withSecret, secret("creds", "other", "x"), v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretKeyMissing,
			`Key "token" not found in Secret "creds" in namespace "NS". Referenced by: spec.providers.inference.apiKey.secretKeyRef`,
			secret("creds", "token", "sk-abc"),
		},
		{
			"certificate", withTLS, nil, v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretNotFound,
			`Secret "cert" not found in namespace "NS". Referenced by: spec.networking.tls.secretName`,
			tlsSecret(t, "cert"),
		},
		{
			"ConfigMap of an override", withOverride, nil, v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonConfigMapNotFound,
			`ConfigMap "mine" not found in namespace "NS". Referenced by: spec.overrideConfig.configMapName`,
			configMap("mine", "config.yaml", "version: 2\n"),
		},
		{
			"key of a base", withBase, configMap("mine", "config.yaml", "x"), v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonConfigMapKeyMissing,
			`Key "base.yaml" not found in ConfigMap "mine" in namespace "NS". Referenced by: spec.baseConfig.configMapName`,
			configMap("mine", "base.yaml", "version: 2\napis: []\nproviders: {}\n"),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tc.exists != nil {
				b.create(t, tc.exists)
			}
			b.direct(t, "missing")
			b.create(t, b.stack(t, "my", tc.spec))
			condition := b.condition(t, "my", tc.condition, tc.reason)
			if diff := cmp.Diff(inNamespace(tc.message, b.namespace), condition.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if ready := b.condition(t, "my", v1alpha2.ConditionReady, tc.reason); !strings.HasPrefix(ready.Message, tc.condition+" is ") {
				t.Errorf("Ready says %q", ready.Message)
			}
			b.nothingApplied(t)

			began := time.Now()
			if tc.exists != nil {
				tc.heal.SetNamespace(b.namespace)
				if err := b.Update(t.Context(), tc.heal); err != nil {
					t.Fatal(err)
				}
			} else {
				b.create(t, tc.heal)
			}
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if took := time.Since(began); took > healing {
				t.Errorf("healed after %v, want at most %v", took, healing)
			}
		})
	}
}

func inNamespace(message, namespace string) string {
	return strings.ReplaceAll(message, `namespace "NS"`, fmt.Sprintf("namespace %q", namespace))
}

// TestSecretOfARunningStack checks that a Secret that is deleted while the stack runs changes nothing in the pods and
// is reported.
func TestSecretOfARunningStack(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	b.direct(t, "secret-gone")
	b.create(t, b.stack(t, "my", fullSpec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)

	if err := b.Delete(t.Context(), &corev1.Secret{ObjectMeta: objectMeta(b.namespace, "vllm-creds")}); err != nil {
		t.Fatal(err)
	}
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonSecretNotFound)
	b.condition(t, "my", v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid)
	b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
	b.settled(t, "secret-gone")
	after := &appsv1.Deployment{}
	b.get(t, "my", after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the Deployment changed:\n%s", diff)
	}

	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.settled(t, "secret-gone")
	b.get(t, "my", after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the same Secret again rolled the pods:\n%s", diff)
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	if meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded) != nil {
		t.Error("still degraded")
	}

	changed := secret("vllm-creds", "token", "sk-def")
	changed.Namespace = b.namespace
	if err := b.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	b.removes(t)
	pod := b.try(t, nil) // another value may fail too
	b.place(t, pod)
	b.kubelet(t, pod, isReady())
	eventually(t, func() error {
		b.get(t, "my", after)
		if after.Spec.Template.Annotations[names.AnnotationInputs] == before.Spec.Template.Annotations[names.AnnotationInputs] {
			return fmt.Errorf("another value does not roll the pods")
		}
		return nil
	})
}

// TestCertificate checks that a server with a certificate is probed by HTTPS, and that a renewed certificate rolls the
// pods once, because the server reads it only at its start.
func TestCertificate(t *testing.T) {
	b := newBench(t)
	b.create(t, tlsSecret(t, "cert"))
	b.direct(t, "certificate")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {tls: {enabled: true, secretName: cert}}}`))
	resolved := b.condition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonAllSecretsFound)
	if want := "Resolved 1 secret reference"; resolved.Message != want {
		t.Errorf("%q, want %q", resolved.Message, want)
	}
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.settled(t, "certificate")
	stack, before := &v1alpha2.LlamaStackDistribution{}, &appsv1.Deployment{}
	b.get(t, "my", stack)
	b.get(t, "my", before)
	if want := "https://my-service." + b.namespace + ".svc.cluster.local:8321"; stack.Status.ServiceURL != want {
		t.Errorf("service URL %q, want %q", stack.Status.ServiceURL, want)
	}
	if scheme := before.Spec.Template.Spec.Containers[0].ReadinessProbe.HTTPGet.Scheme; scheme != corev1.URISchemeHTTPS {
		t.Errorf("the probe asks by %s", scheme)
	}

	renewed := tlsSecret(t, "cert")
	renewed.Namespace = b.namespace
	if err := b.Update(t.Context(), renewed); err != nil {
		t.Fatal(err)
	}
	after := &appsv1.Deployment{}
	eventually(t, func() error {
		b.get(t, "my", after)
		if after.Generation == before.Generation {
			return fmt.Errorf("a renewed certificate does not roll the pods")
		}
		return nil
	})
	renewed.Annotations = map[string]string{"note": "nothing that a pod sees"}
	if err := b.Update(t.Context(), renewed); err != nil {
		t.Fatal(err)
	}
	b.settled(t, "certificate")
	b.get(t, "my", after)
	if after.Generation != before.Generation+1 {
		t.Errorf("the Deployment changed %d times", after.Generation-before.Generation)
	}
	for _, key := range []string{corev1.TLSPrivateKeyKey, corev1.TLSCertKey} {
		if text := fmt.Sprint(after, stack); strings.Contains(text, string(renewed.Data[key])) {
			t.Errorf("%s is shown", key)
		}
	}
}

// brokenPair returns a Secret whose key belongs to another certificate.
func brokenPair(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	broken := tlsSecret(t, name)
	broken.Data[corev1.TLSPrivateKeyKey] = tlsSecret(t, name).Data[corev1.TLSPrivateKeyKey]
	return broken
}

// TestOverride checks that the content of an override is part of what runs.
func TestOverride(t *testing.T) {
	b := newBench(t)
	b.create(t, configMap("mine", "config.yaml", "version: 2\n"))
	b.direct(t, "override")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, overrideConfig: {configMapName: mine}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonOverrideConfigUsed)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	changed := configMap("mine", "config.yaml", "version: 2\napis: [inference]\n")
	changed.Namespace = b.namespace
	if err := b.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		after := &appsv1.Deployment{}
		b.get(t, "my", after)
		if after.Spec.Template.Annotations[names.AnnotationConfigHash] == before.Spec.Template.Annotations[names.AnnotationConfigHash] {
			return fmt.Errorf("other content does not roll the pods")
		}
		return nil
	})
}
