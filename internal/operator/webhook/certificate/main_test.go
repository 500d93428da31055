package certificate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	service = "llama-stack-k8s-operator-webhook"
	name    = service + "." + names.OperatorNamespace + ".svc"
)

// canary is a string in the values that users put into the Secret.
const canary = "cAnArY-7d1f"

var plane *testutil.ControlPlane

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	log.SetLogger(zap.New(zap.WriteTo(&testutil.Log{}))) // The webhook server uses this logger.
	var err error
	if plane, err = testutil.Start(testutil.Options{Bare: true}); err == nil {
		defer func() {
			if err := plane.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}()
		err = plane.InstallRights()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// bench is the cluster for a test. All tests share one control plane, and the objects have fixed names. Therefore,
// newBench deletes the objects of earlier tests.
type bench struct {
	// Client has the permissions of an administrator.
	client.Client

	clock *testingclock.FakeClock
	log   *testutil.Log

	// before is a function that is called before each request of a replica. Nil means that no function is called.
	before func(*http.Request)

	mu     sync.Mutex
	events []string
	writes map[string]int
	keys   map[string]bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	admin, err := plane.Client()
	testutil.Must(t, err)
	b := &bench{
		Client: admin, clock: testingclock.NewFakeClock(start), log: &testutil.Log{}, writes: map[string]int{},
		keys: map[string]bool{},
	}
	caInjected.Reset()
	for _, object := range []client.Object{b.secret(), definition(service), configuration(service)} {
		b.delete(t, object)
	}
	t.Cleanup(func() { b.expectNoSecrets(t) })
	return b
}

func (b *bench) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: names.OperatorNamespace,
		Name:      names.WebhookCertificateSecret,
	}}
}

// deleteOnce deletes an object that replicas create again. The method `delete` would also delete the new object.
func (b *bench) deleteOnce(t *testing.T, object client.Object) {
	t.Helper()
	testutil.Must(t, b.Delete(t.Context(), object))
}

// delete deletes an object, and waits until it no longer exists.
func (b *bench) delete(t *testing.T, object client.Object) {
	t.Helper()
	testutil.Eventually(t, "the object to be deleted", func() (bool, error) {
		err := b.Delete(t.Context(), object.DeepCopyObject().(client.Object)) // a copy has the same type
		return client.IgnoreNotFound(err) == nil && err != nil, client.IgnoreNotFound(err)
	})
}

func (b *bench) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		testutil.Must(t, b.Create(t.Context(), object))
	}
}

// mayReadSecret waits until the API server has processed the binding that lets the account read the Secret.
func (b *bench) mayReadSecret(t *testing.T, account string) {
	t.Helper()
	as, err := client.New(plane.As(account), client.Options{})
	testutil.Must(t, err)
	testutil.Eventually(t, "the right to read the Secret", func() (bool, error) {
		err := as.Get(t.Context(), client.ObjectKeyFromObject(b.secret()), b.secret())
		return !apierrors.IsForbidden(err), nil
	})
}

// edit changes an object as a user does.
func edit[T client.Object](t *testing.T, b *bench, object T, change func(T)) {
	t.Helper()
	testutil.Eventually(t, "an edit", func() (bool, error) {
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		change(object)
		err := b.Update(t.Context(), object)
		return err == nil, nil // another writer may have been faster
	})
}

// start starts a replica with the permissions of an account.
func (b *bench) start(t *testing.T, account string) *Certificates {
	t.Helper()
	config := rest.CopyConfig(plane.As(account))
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{b, next} })
	recorder := events.NewFakeRecorder(100)
	certificates, err := New(config, Options{
		Namespace: names.OperatorNamespace, Service: service, Recorder: recorder,
		Clock: b.clock,
	})
	testutil.Must(t, err)
	ctx, cancel := context.WithCancel(log.IntoContext(context.WithoutCancel(t.Context()), b.logger()))
	ctx = logr.NewContext(ctx, b.logger())
	var group sync.WaitGroup
	group.Go(func() {
		if err := certificates.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	group.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case event := <-recorder.Events:
				b.mu.Lock()
				b.events = append(b.events, event)
				b.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() { cancel(); group.Wait() })
	return certificates
}

func (b *bench) logger() logr.Logger { return zap.New(zap.WriteTo(b.log), zap.UseDevMode(true)) }

// counting calls bench.before, and counts the successful writes by resource.
type counting struct {
	bench *bench
	next  http.RoundTripper
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.bench.before != nil {
		c.bench.before(request)
	}
	response, err := c.next.RoundTrip(request)
	if err == nil && request.Method != http.MethodGet && response.StatusCode < http.StatusBadRequest {
		c.bench.mu.Lock()
		defer c.bench.mu.Unlock()
		for _, resource := range []string{"secrets", "customresourcedefinitions", "validatingwebhookconfigurations"} {
			if strings.Contains(request.URL.Path, "/"+resource) {
				if strings.HasSuffix(request.URL.Path, "/status") {
					resource += "/status"
				}
				c.bench.writes[resource]++
			}
		}
	}
	return response, err
}

// written returns the writes since its last call.
func (b *bench) written() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	result := maps.Clone(b.writes)
	clear(b.writes)
	return result
}

// told returns the recorded events.
func (b *bench) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

// expectNoSecrets fails if the log or an event contains a key, or a value that a user put in place of a key.
func (b *bench) expectNoSecrets(t *testing.T) {
	t.Helper()
	said := b.log.String() + strings.Join(b.told(), "\n")
	if strings.Contains(said, canary) {
		t.Error("the content of a user's Secret was shown")
	}
	for key := range b.keys {
		if strings.Contains(said, key) {
			t.Error("a key was shown")
		}
	}
}

// stored returns the Secret, or nil if there is none. It records the keys in the Secret for expectNoSecrets.
func (b *bench) stored(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := b.secret()
	err := b.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	for _, key := range []string{corev1.TLSPrivateKeyKey, authorityKeysKey} {
		if lines := strings.Split(string(secret.Data[key]), "\n"); len(lines) > 1 {
			b.keys[lines[1]] = true
		}
	}
	return secret
}

// trusted returns the bundles in the CustomResourceDefinition and in the ValidatingWebhookConfiguration.
func (b *bench) trusted(t *testing.T) (conversion, validation []byte) {
	t.Helper()
	crd, webhook := definition(service), configuration(service)
	testutil.Must(t, b.Get(t.Context(), client.ObjectKeyFromObject(crd), crd))
	testutil.Must(t, b.Get(t.Context(), client.ObjectKeyFromObject(webhook), webhook))
	return crd.Spec.Conversion.Webhook.ClientConfig.CABundle, webhook.Webhooks[1].ClientConfig.CABundle
}

// eventuallyTrusted waits until all replicas serve the same certificate, and the API server trusts its authority.
func (b *bench) eventuallyTrusted(t *testing.T, replicas ...*Certificates) {
	t.Helper()
	testutil.Eventually(t, "the API server to trust the webhooks", func() (bool, error) {
		secret := b.stored(t)
		conversion, validation := b.trusted(t)
		if secret == nil || !bytes.Equal(conversion, secret.Data[bundleKey]) || !bytes.Equal(validation, conversion) {
			return false, nil
		}
		served := read(secret.Data)
		for _, replica := range replicas {
			current, _ := replica.GetCertificate(nil)
			if current == nil || !current.Leaf.Equal(served.serving.Leaf) || !bytes.Equal(replica.CABundle(), conversion) {
				return false, nil
			}
		}
		return served.serves(b.clock.Now(), []string{name}), nil
	})
}

// definition returns a CustomResourceDefinition that calls a Service for conversion.
func definition(service string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	decode(crd, `
metadata: {name: llamastackdistributions.llamastack.io}
spec:
  group: llamastack.io
  scope: Namespaced
  names: {plural: llamastackdistributions, kind: LlamaStackDistribution}
  versions: [{name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: NS, name: `+service+`}}}
`)
	return crd
}

// configuration returns a configuration with an unrelated webhook and a webhook that calls a Service.
func configuration(service string) *admissionv1.ValidatingWebhookConfiguration {
	const rest = `, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore,
  rules: [{operations: [CREATE], apiGroups: [llamastack.io], apiVersions: [v1alpha2],
    resources: [llamastackdistributions]}]}
`
	webhooks := &admissionv1.ValidatingWebhookConfiguration{}
	decode(webhooks, `
metadata: {name: `+names.ValidatingWebhookConfiguration+`}
webhooks:
- {name: other.llamastack.io, clientConfig: {service: {namespace: NS, name: other}}`+rest+`
- {name: stacks.llamastack.io, clientConfig: {service: {namespace: NS, name: `+service+`}}`+rest)
	return webhooks
}

// decode decodes an object from YAML. It replaces NS with the operator's namespace.
func decode(into any, text string) {
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(text, "NS", names.OperatorNamespace)), into); err != nil {
		panic(err) // the text is a constant
	}
}

// patience is the time limit for a request to a replica.
const patience = 20 * time.Second
