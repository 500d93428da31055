package certificate

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	crdKind     = "CustomResourceDefinition"
	webhookKind = "ValidatingWebhookConfiguration"
)

// Replicas that start together write each object only once in total, serve the same certificate, and do not change
// correct objects.
func TestReplicas(t *testing.T) {
	b := newBench(t)
	b.create(t, definition(service), configuration(service))
	replicas := []*Certificates{
		b.start(t, names.OperatorServiceAccount), b.start(t, names.OperatorServiceAccount),
		b.start(t, names.OperatorServiceAccount),
	}
	b.eventuallyTrusted(t, replicas...)
	testutil.Eventually(t, "the replicas to be idle", func() (bool, error) { return b.clock.Waiters() == 3*3, nil })
	want := map[string]int{"secrets": 1, "customresourcedefinitions": 1, "validatingwebhookconfigurations": 1}
	if diff := cmp.Diff(want, b.written()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	late := b.start(t, names.OperatorServiceAccount)
	b.eventuallyTrusted(t, late)
	testutil.Eventually(t, "the replicas to be idle", func() (bool, error) { return b.clock.Waiters() == 3*4, nil })
	if diff := cmp.Diff(map[string]int{}, b.written()); diff != "" {
		t.Errorf("writes although all objects are correct (-want +got):\n%s", diff)
	}
	if webhook := b.configured(t); webhook.Webhooks[0].ClientConfig.CABundle != nil {
		t.Error("another owner's webhook got the bundle")
	}
	if diff := cmp.Diff(map[string]float64{crdKind: 1, webhookKind: 1}, injected(t)); diff != "" {
		t.Errorf("metric (-want +got):\n%s", diff)
	}
	secret := b.stored(t)
	if secret.Type != corev1.SecretTypeTLS || secret.Labels[names.LabelManagedBy] != names.ManagedBy ||
		len(secret.OwnerReferences) > 0 {
		t.Errorf("the Secret is of type %q with labels %v and owners %v", secret.Type, secret.Labels, secret.OwnerReferences)
	}
	if told := b.told(); len(told) > 0 {
		t.Errorf("events: %q", told)
	}
}

// If there are no objects to inject the CA certificate into, a replica is ready and serves as soon as there is a
// certificate. It reports a Secret that does not belong to the operator, and does not change it.
func TestReadiness(t *testing.T) {
	b := newBench(t)
	b.create(t, foreign(b))
	replica := b.start(t, names.OperatorServiceAccount)
	testutil.Eventually(t, "the foreign Secret to be reported", func() (bool, error) { return len(b.told()) == 1, nil })
	if _, err := replica.GetCertificate(nil); !errors.Is(err, errNoCertificate) ||
		!errors.Is(replica.Check(nil), errNoCertificate) || replica.CABundle() != nil {
		t.Errorf("without a certificate: %v, ready: %v, bundle %q", err, replica.Check(nil), replica.CABundle())
	}
	if event := b.told()[0]; !strings.HasPrefix(event, "Warning "+v1alpha2.EventWebhookCertificateFailed) || !strings.Contains(event, "does not belong to the operator") {
		t.Errorf("event %q", event)
	}
	if secret := b.stored(t); string(secret.Data["mine"]) != canary {
		t.Error("a foreign Secret was changed")
	}
	b.deleteOnce(t, b.secret())
	testutil.Eventually(t, "a certificate", func() (bool, error) { return replica.Check(nil) == nil, nil })
	if diff := cmp.Diff(map[string]float64{}, injected(t)); diff != "" {
		t.Errorf("metric of objects that do not exist (-want +got):\n%s", diff)
	}
}

// A replica already serves during its first attempt to inject the bundle for conversion and validation. It becomes
// ready only after this attempt has ended. A user who applies the manifest and waits for the Deployment can then apply
// a stack.
func TestReadyWhenTrusted(t *testing.T) {
	for name, resource := range map[string]string{
		"conversion": "customresourcedefinitions", "validation": "validatingwebhookconfigurations",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.create(t, definition(service), configuration(service))
			held, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			b.before = func(request *http.Request) {
				if request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "/"+resource+"/") {
					once.Do(func() { close(held) })
					<-release
				}
			}
			replica := b.start(t, names.OperatorServiceAccount)
			<-held
			if _, err := replica.GetCertificate(nil); err != nil {
				t.Errorf("the replica does not serve: %v", err)
			}
			if err := replica.Check(nil); err == nil {
				t.Error("the replica is ready before the API server trusts its certificate")
			}
			close(release)
			b.eventuallyTrusted(t, replica)
			testutil.Eventually(t, "the replica to be ready", func() (bool, error) { return replica.Check(nil) == nil, nil })
		})
	}
}

// foreign returns an unmanaged Secret with the name of the operator's Secret.
func foreign(b *bench) *corev1.Secret {
	secret := b.secret()
	secret.Data = map[string][]byte{"mine": []byte(canary)}
	return secret
}

// If a user changes the Secret, one replica repairs it.
func TestDamage(t *testing.T) {
	for what, damage := range map[string]func(*corev1.Secret){
		"garbage":       func(secret *corev1.Secret) { secret.Data[corev1.TLSPrivateKeyKey] = []byte(canary) },
		"no authority":  func(secret *corev1.Secret) { delete(secret.Data, bundleKey) },
		"no keys":       func(secret *corev1.Secret) { secret.Data[authorityKeysKey] = []byte(canary) },
		"a foreign key": func(secret *corev1.Secret) { secret.Data["mine"] = []byte(canary) },
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t)
			b.create(t, definition(service), configuration(service))
			replicas := []*Certificates{b.start(t, names.OperatorServiceAccount), b.start(t, names.OperatorServiceAccount)}
			b.eventuallyTrusted(t, replicas...)
			b.written()
			edit(t, b, b.secret(), damage)
			testutil.Eventually(t, "a good Secret", func() (bool, error) {
				secret := b.stored(t)
				found := read(secret.Data)
				if found.serving == nil || !slices.ContainsFunc(found.authorities, authority.signs) {
					return false, nil
				}
				data, err := found.data()
				return cmp.Equal(data, secret.Data), err
			})
			b.eventuallyTrusted(t, replicas...)
			if got := b.written()["secrets"]; got != 1 {
				t.Errorf("%d writes of the Secret", got)
			}
		})
	}
}

// The operator injects the bundle into objects that are created later, and restores an edited bundle. It does not
// change an object that calls a different Service.
func TestInjection(t *testing.T) {
	b := newBench(t)
	replica := b.start(t, names.OperatorServiceAccount)
	testutil.Eventually(t, "a certificate", func() (bool, error) { return replica.Check(nil) == nil, nil })
	b.create(t, definition(service), configuration(service))
	b.eventuallyTrusted(t, replica)
	strange := []byte(strangeAuthority(t))
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.CABundle = strange
	})
	edit(t, b, configuration(service), func(webhook *admissionv1.ValidatingWebhookConfiguration) {
		webhook.Webhooks[1].ClientConfig.CABundle = append(strange, webhook.Webhooks[1].ClientConfig.CABundle...)
	})
	b.eventuallyTrusted(t, replica)
	b.delete(t, configuration(service))
	b.create(t, configuration(service))
	b.eventuallyTrusted(t, replica)
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.Service.Name = "other"
		crd.Spec.Conversion.Webhook.ClientConfig.CABundle = strange
	})
	edit(t, b, configuration(service), func(webhook *admissionv1.ValidatingWebhookConfiguration) {
		webhook.Webhooks = webhook.Webhooks[:1]
	})
	testutil.Eventually(t, "no metric", func() (bool, error) { return len(injected(t)) == 0, nil })
	crd := definition(service)
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil ||
		!bytes.Equal(crd.Spec.Conversion.Webhook.ClientConfig.CABundle, strange) {
		t.Errorf("error %v, or another owner's bundle was changed", err)
	}
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	})
	if told := b.told(); len(told) > 0 {
		t.Errorf("events: %q", told)
	}
}

// The operator does not overwrite the bundle of another injector.
func TestOtherInjector(t *testing.T) {
	b := newBench(t)
	crd := definition(service)
	crd.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "a/b"}
	b.create(t, crd)
	b.start(t, names.OperatorServiceAccount)
	testutil.Eventually(t, "the injector to be reported", func() (bool, error) {
		return len(b.told()) == 1 &&
			injected(t)[crdKind] == 0, nil
	})
	if event := b.told()[0]; !strings.Contains(event, v1alpha2.EventWebhookCertificateFailed) ||
		!strings.Contains(event, "cert-manager.io/inject-ca-from") {
		t.Errorf("event %q", event)
	}
	b.eventuallyUntrusted(t, "cert-manager.io/inject-ca-from")
	testutil.Eventually(t, "attempts that report nothing new", func() (bool, error) {
		b.clock.Step(lastRetry)
		return strings.Count(b.log.String(), "Trying again") >= 3, nil
	})
	if diff := cmp.Diff(map[string]int{"secrets": 1, "customresourcedefinitions/status": 1}, b.written()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Annotations = nil })
	testutil.Eventually(t, "the condition to be removed", func() (bool, error) {
		return b.untrusted(t) == nil &&
			injected(t)[crdKind] == 1, nil
	})
	if established := b.conditions(t)[apiextensionsv1.Established]; established.Status != apiextensionsv1.ConditionTrue {
		t.Errorf("the API server's own condition is %v", established)
	}
}

// The operator removes its condition when the problem no longer exists, even if another controller fixed it.
func TestConditionOfOthers(t *testing.T) {
	b := newBench(t)
	crd := definition(service)
	crd.Annotations = map[string]string{injectors[0]: "a/b"}
	b.create(t, crd)
	replicas := []*Certificates{b.start(t, names.OperatorServiceAccount), b.start(t, names.OperatorServiceAccount)}
	b.eventuallyUntrusted(t, injectors[0])
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.CABundle = replicas[0].CABundle()
	})
	testutil.Eventually(t, "the condition to be removed", func() (bool, error) { return b.untrusted(t) == nil, nil })
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	})
	b.eventuallyUntrusted(t, injectors[0])
	edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion.Webhook.ClientConfig.Service.Name = "other"
	})
	testutil.Eventually(t, "the condition to be removed", func() (bool, error) { return b.untrusted(t) == nil, nil })
}

func (b *bench) conditions(
	t *testing.T,
) map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.CustomResourceDefinitionCondition {
	t.Helper()
	crd := definition(service)
	testutil.Must(t, b.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
	found := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.CustomResourceDefinitionCondition{}
	for _, condition := range crd.Status.Conditions {
		found[condition.Type] = condition
	}
	return found
}

// untrusted returns the condition that the operator set on the definition, or nil if there is none.
func (b *bench) untrusted(t *testing.T) *apiextensionsv1.CustomResourceDefinitionCondition {
	t.Helper()
	if condition, ok := b.conditions(t)[Untrusted]; ok {
		return &condition
	}
	return nil
}

func (b *bench) eventuallyUntrusted(t *testing.T, because string) {
	t.Helper()
	testutil.Eventually(t, "the condition", func() (bool, error) {
		condition := b.untrusted(t)
		return condition != nil && condition.Status == apiextensionsv1.ConditionTrue &&
			condition.Reason == ReasonNotInjected &&
			strings.Contains(condition.Message, because) &&
			condition.LastTransitionTime.Equal(new(metav1.NewTime(b.clock.Now()))), nil
	})
}

// If another program keeps changing the bundle, the operator reports the conflict, and restores the bundle at a limited
// rate.
func TestOtherWriterOfBundle(t *testing.T) {
	b := newBench(t)
	b.create(t, definition(service))
	b.start(t, names.OperatorServiceAccount)
	for range writeBurst {
		testutil.Eventually(t, "the bundle", func() (bool, error) { return b.conversionTrusts(t) != "", nil })
		edit(t, b, definition(service), func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
		})
	}
	testutil.Eventually(t, "the conflict to be reported", func() (bool, error) { return len(b.told()) == 1, nil })
	if got := b.conversionTrusts(t); got != "" {
		t.Errorf("the operator still writes the bundle: %s", got)
	}
	if event := b.told()[0]; !strings.Contains(event, "another client is writing a different bundle; stop that client") || injected(t)[crdKind] != 0 {
		t.Errorf("event %q, metric %v", event, injected(t))
	}
	b.eventuallyUntrusted(t, "another client is writing a different bundle; stop that client")
	testutil.Eventually(t, "the bundle, later", func() (bool, error) {
		b.clock.Step(writePause)
		return b.conversionTrusts(t) != "" && b.untrusted(t) == nil, nil
	})
}

// Without permissions, the operator reports the failure once and continues to try.
func TestWithoutPermissions(t *testing.T) {
	b := newBench(t)
	b.create(t, definition(service), configuration(service))
	replica := b.start(t, "nobody")
	trying := func(want int) func() (bool, error) {
		return func() (bool, error) {
			b.clock.Step(lastRetry)
			return strings.Count(b.log.String(), "Trying again") >= want, nil
		}
	}
	testutil.Eventually(t, "some attempts", trying(3))
	if told := b.told(); len(told) != 1 || !strings.Contains(told[0], "forbidden") || replica.Check(nil) == nil {
		t.Errorf("ready: %v, events: %q", replica.Check(nil), told)
	}
	if said := strings.Count(b.log.String(), "ERROR"); said != 1 {
		t.Errorf("%d errors in the log:\n%s", said, b.log)
	}
}

// If the operator has permissions only in its own namespace, it still serves. For each object, it reports once that it
// cannot inject the CA certificate.
func TestWithoutClusterPermissions(t *testing.T) {
	const account = "namespaced"
	b := newBench(t)
	b.create(t, definition(service), configuration(service))
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: names.OperatorNamespace, Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "llama-stack-k8s-operator-leader-election-role"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: names.OperatorNamespace, Name: account}},
	}
	b.delete(t, binding)
	b.create(t, binding)
	b.mayReadSecret(t, account)
	replica := b.start(t, account)
	testutil.Eventually(t, "a certificate", func() (bool, error) { return replica.Check(nil) == nil, nil })
	testutil.Eventually(t, "some attempts", func() (bool, error) {
		b.clock.Step(lastRetry)
		return strings.Count(b.log.String(), "Trying again") >= 4, nil
	})
	if told := b.told(); len(told) != 2 || strings.Count(b.log.String(), "ERROR") != 2 {
		t.Errorf("events: %q\nlog:\n%s", told, b.log)
	}
	if diff := cmp.Diff(map[string]float64{crdKind: 0, webhookKind: 0}, injected(t)); diff != "" {
		t.Errorf("metric (-want +got):\n%s", diff)
	}
}

func (b *bench) conversionTrusts(t *testing.T) string {
	t.Helper()
	crd := definition(service)
	testutil.Must(t, b.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
	return string(crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
}

func (b *bench) configured(t *testing.T) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	webhook := configuration(service)
	testutil.Must(t, b.Get(t.Context(), client.ObjectKeyFromObject(webhook), webhook))
	return webhook
}

// injected returns the metric of each object.
func injected(t *testing.T) map[string]float64 {
	t.Helper()
	return testutil.Metric(t, "webhook_ca_injected")
}
