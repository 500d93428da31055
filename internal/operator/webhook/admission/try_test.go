package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// plane is the control plane of the tests that need one.
var plane = sync.OnceValues(func() (*testutil.ControlPlane, error) { return testutil.Start(testutil.Options{}) })

var started atomic.Bool

func TestMain(m *testing.M) {
	code := m.Run()
	if started.Load() {
		if running, err := plane(); err == nil {
			err = running.Stop()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	os.Exit(code)
}

// cluster returns a client of a real API server.
func cluster(t testing.TB) client.WithWatch {
	t.Helper()
	started.Store(true)
	running, err := plane()
	testutil.Must(t, err)
	c, err := client.NewWithWatch(running.Config, client.Options{})
	testutil.Must(t, err)
	return c
}

// made creates objects in a new namespace, and returns the namespace. It replaces NS in the objects with its name.
func made(t testing.TB, c client.Client, texts ...string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"}}
	testutil.Must(t, c.Create(t.Context(), namespace))
	for _, text := range texts {
		object := &unstructured.Unstructured{}
		testutil.Must(t, yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NS", namespace.Name)), &object.Object))
		status := object.Object["status"]
		if object.GetKind() == "Namespace" {
			testutil.Must(t, c.Patch(t.Context(), object, client.Merge))
			continue
		}
		if object.GetNamespace() == "" && !strings.Contains(object.GetKind(), "Configuration") {
			object.SetNamespace(namespace.Name)
		}
		testutil.Must(t, c.Create(t.Context(), object))
		if status != nil {
			object.Object["status"] = status
			testutil.Must(t, c.Status().Update(t.Context(), object))
		}
	}
	return namespace.Name
}

const (
	// invalid is a spec whose Deployment the API server rejects, for a reason that the rules of package validate do not
	// know.
	invalid = `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {securityContext: {windowsOptions: {runAsUserName: ""}}}}}}}`
	refused = `spec.workload.overrides.podTemplate.spec.securityContext.windowsOptions.runAsUserName: the API server rejects ` +
		`Deployment "my-stack": Invalid value: "": runAsUserName cannot be an empty string`
	root = `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {securityContext: {runAsUser: 0}}}}}}`
	// onClass and onOther differ in a field of the claim that cannot change.
	onClass = `{distribution: {name: starter}, workload: {storage: {storageClassName: fast}}}`
	onOther = `{distribution: {name: starter}, workload: {storage: {storageClassName: slow}}}`

	claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: my-stack-pvc},
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 10Gi}}}}`
	full = `{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}, spec: {hard: {pods: 1}},
status: {hard: {pods: 1}, used: {pods: 1}}}`
	restricted = `{apiVersion: v1, kind: Namespace, metadata: {name: NS, labels: {pod-security.kubernetes.io/enforce: restricted}}}`
	maximum    = `{apiVersion: v1, kind: LimitRange, metadata: {name: most}, spec: {limits: [{type: Container, max: {memory: 512Mi}}]}}`
	usualLimit = `{apiVersion: v1, kind: LimitRange, metadata: {name: usual}, spec: {limits: [{type: Container, default: {memory: 512Mi}}]}}`
	// unavailable is a webhook that does not respond.
	unavailable = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: NS},
webhooks: [{name: mesh.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail,
clientConfig: {url: "https://127.0.0.1:1/"}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}},
rules: [{apiGroups: [apps, ""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments, pods]}]}]}`
	// theirs is a Deployment with a port that another program wrote. The operator takes over its fields before an apply.
	theirs = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: my-stack}, spec: {selector: {matchLabels: {app: llama-stack, app.kubernetes.io/instance: my-stack}},
template: {metadata: {labels: {app: llama-stack, app.kubernetes.io/instance: my-stack}},
spec: {containers: [{name: llama-stack, image: a, ports: [{name: http, containerPort: 1234}]}]}}}}`
	// foreign is a Deployment with the name of the stack. prying is a spec that conflicts with its fields.
	foreign = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: my-stack}, spec: {selector: {matchLabels: {customer: acme}},
template: {metadata: {labels: {customer: acme}}, spec: {containers: [{name: db, image: a,
env: [{name: PASSWORD, value: b}], resources: {limits: {memory: 77Mi}}, livenessProbe: {exec: {command: [c]}}}]}}}}`
	prying = `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {containers: [{name: db, image: a,
env: [{name: PASSWORD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], resources: {requests: {memory: 1Gi}},
livenessProbe: {httpGet: {port: 80}}}]}}}}}`
	immutable = `the API server rejects Deployment "my-stack": spec.selector: field is immutable`
)

// TestTry checks which answers of a real API server reject a stack, and which are warnings.
func TestTry(t *testing.T) {
	c := cluster(t)
	for name, tc := range map[string]struct {
		objects []string
		// stored is the spec that an update replaces. It is empty for a new stack.
		stored, spec   string
		change         func(*v1alpha2.LlamaStackDistribution)
		denied, warned string
	}{
		"a good stack":                              {spec: `{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [a]}}, workload: {storage: {}, podDisruptionBudget: {maxUnavailable: 1}}}`},
		"a Deployment with an invalid field":        {spec: invalid, denied: refused},
		"a paused stack":                            {spec: invalid, change: paused},
		"an update that makes a Deployment invalid": {stored: good, spec: invalid, denied: refused},
		"an update of a stack whose Deployment is already invalid": {
			stored: invalid, spec: strings.Replace(invalid, "{overrides", "{workers: 2, overrides", 1), warned: refused,
		},
		"an update that changes other objects": {
			stored: invalid, spec: strings.Replace(invalid, "{overrides", "{podDisruptionBudget: {maxUnavailable: 1}, overrides", 1),
		},
		"an exhausted quota": {
			objects: []string{full}, spec: good,
			warned: `the API server currently rejects Pod "my-stack": exceeded quota: full, requested: pods=1`,
		},
		"a quota that has room after the old pod stops": {objects: []string{full}, stored: onClass, spec: strings.Replace(onClass, "{storage", "{workers: 2, storage", 1)},
		"no pods":      {objects: []string{full}, spec: `{distribution: {name: starter}, workload: {replicas: 0}}`},
		"Pod Security": {objects: []string{restricted}, spec: root, warned: `violates PodSecurity "restricted:latest"`},
		"a LimitRange": {
			objects: []string{maximum}, spec: `{distribution: {name: starter}, workload: {resources: {limits: {memory: 1Gi}}}}`,
			warned: "maximum memory usage per Container is 512Mi, but limit is 1Gi",
		},
		"a limit that admission adds": {
			objects: []string{usualLimit}, spec: `{distribution: {name: starter}, workload: {resources: {requests: {memory: 1Gi}}}}`,
			warned: `spec.workload.resources.requests: the API server rejects Pod "my-stack": Invalid value: "1Gi": must be less than or equal to memory limit of 512Mi`,
		},
		"a webhook that is not available":      {objects: []string{unavailable}, spec: good},
		"an existing claim of another class":   {objects: []string{claim}, spec: onOther},
		"a new class for an existing claim":    {objects: []string{claim}, stored: onClass, spec: onOther},
		"fields that the operator takes over":  {objects: []string{theirs}, spec: good},
		"an invalid object in an existing one": {objects: []string{theirs}, spec: invalid, denied: refused},
		"a namespace that does not exist":      {spec: invalid, change: func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = "gone" }},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := made(t, c, tc.objects...)
			in := func(s *v1alpha2.LlamaStackDistribution) {
				s.Namespace = namespace
				if tc.change != nil {
					tc.change(s)
				}
			}
			request := create(object(t, tc.spec, in))
			if tc.stored != "" {
				request = update(object(t, tc.stored, in), request.Object)
			}
			got := newValidator(t, nil, c).Handle(t.Context(), request)
			check(t, got, tc.denied, tc.warned)
			if list := (&appsv1.DeploymentList{}); tc.objects == nil {
				if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) > 0 {
					t.Errorf("%d Deployments are stored: %v", len(list.Items), err)
				}
			}
		})
	}
}

// TestTryForeign checks that an answer contains no value of an existing object, with which the API server merges the
// object of the stack. Any pod can send a request about any namespace.
func TestTryForeign(t *testing.T) {
	c := cluster(t)
	namespace := made(t, c, foreign)
	in := func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = namespace }
	got := newValidator(t, nil, c).Handle(t.Context(), create(object(t, prying, in)))
	check(t, got, immutable, "")
	if got.Result.Message != immutable {
		t.Errorf("the answer is %s", got.Result.Message)
	}
}

func paused(stack *v1alpha2.LlamaStackDistribution) {
	stack.Annotations = map[string]string{names.AnnotationPaused: "true"}
}

// TestTryAnswers checks that answers that say nothing about an object neither reject a stack nor cause warnings.
func TestTryAnswers(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	denied := apierrors.NewInvalid(schema.GroupKind{}, "my-stack", field.ErrorList{field.Required(field.NewPath("spec"), "")})
	denied.ErrStatus.Message = `admission webhook "a.example.com" denied the request: no`
	for name, tc := range map[string]struct {
		answer error
		warned string
	}{
		"a webhook that does not support dry runs": {answer: apierrors.NewBadRequest(`admission webhook "mesh.example.com" does not support dry run`)},
		"missing rights": {answer: apierrors.NewForbidden(deployments, "my-stack",
			errors.New(`User "a" cannot patch resource "deployments" in API group "apps" in the namespace "team"`))},
		"a missing ServiceAccount": {answer: apierrors.NewForbidden(deployments, "my-stack",
			errors.New(`error looking up service account team/a: serviceaccount "a" not found`))},
		"a conflict":             {answer: apierrors.NewConflict(deployments, "my-stack", errors.New("changed"))},
		"a kind without a match": {answer: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "HTTPRoute"}}},
		"a busy API server":      {answer: apierrors.NewTooManyRequests("later", 1)},
		"another webhook":        {answer: denied, warned: `the API server currently rejects Deployment "my-stack": admission webhook "a.example.com" denied the request: no`},
	} {
		t.Run(name, func(t *testing.T) {
			writer := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return tc.answer },
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					return tc.answer
				},
			})
			check(t, newValidator(t, nil, writer).Handle(t.Context(), create(object(t, good, nil))), "", tc.warned)
		})
	}
}

// silent is an API server that does not respond before it is released.
type silent struct {
	client.Writer

	release chan struct{}
	mu      sync.Mutex
	// running contains the number of calls in progress in each namespace. ended is the number of the other calls.
	running map[string]int
	ended   int
}

func newSilent() *silent { return &silent{release: make(chan struct{}), running: map[string]int{}} }

func (s *silent) Create(ctx context.Context, object client.Object, _ ...client.CreateOption) error {
	return s.wait(ctx, object.GetNamespace())
}

func (s *silent) Patch(ctx context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return s.wait(ctx, object.GetNamespace())
}

func (s *silent) wait(ctx context.Context, namespace string) error {
	s.count(namespace, 1)
	select {
	case <-s.release:
	case <-ctx.Done():
	}
	s.count(namespace, -1)
	return ctx.Err()
}

func (s *silent) count(namespace string, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[namespace] += calls
	s.ended -= min(calls, 0)
}

// calls returns the number of calls in progress in a namespace, and of all calls that have ended.
func (s *silent) calls(namespace string) (running, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[namespace], s.ended
}

// objects is the number of calls for one stack: a Deployment, a Pod and a Service.
const objects = 3

// TestTryInTime checks that a stack is allowed without a warning if the API server does not respond in time, and that
// the webhook responds before the API server gives up.
func TestTryInTime(t *testing.T) {
	writer := newSilent()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers := make(chan admission.Response)
	go func() { answers <- newValidator(t, nil, writer).Handle(ctx, create(object(t, good, nil))) }()
	testutil.Eventually(t, "the dry run", func() (bool, error) {
		running, _ := writer.calls("team")
		return running == objects, nil
	})
	cancel()
	check(t, <-answers, "", "")
	for query, want := range map[string]time.Duration{
		"": 3750 * time.Millisecond, "timeout=4s": 3 * time.Second, "timeout=1h": 22500 * time.Millisecond,
		"timeout=soon": 3750 * time.Millisecond, "timeout=-1s": 3750 * time.Millisecond,
	} {
		if got := timeFor(httptest.NewRequest(http.MethodPost, "/validate?"+query, nil)); got != want {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}

// TestTryShares checks that a namespace uses at most its share of the dry runs, and that requests that wait for a dry
// run do not prevent the checks of other requests.
func TestTryShares(t *testing.T) {
	writer := newSilent()
	server := httptest.NewServer(Handler(&admission.Webhook{Handler: newValidator(t, nil, writer)}))
	defer server.Close()
	server.URL += "?timeout=30s"
	var group sync.WaitGroup
	defer group.Wait()
	defer close(writer.release)
	ask := func(namespace, spec string) {
		in := func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = namespace }
		testutil.Post(t, server, strings.NewReader(reviewOf(t, create(object(t, spec, in)))))
	}
	fill := func(namespace string, stacks int) {
		for range stacks {
			group.Go(func() { ask(namespace, good) })
		}
	}
	share := func(namespace string) func() (bool, error) {
		return func() (bool, error) {
			running, _ := writer.calls(namespace)
			return running >= objects*trialsPerNamespace, nil
		}
	}
	fill("many", 2*waitingPerNamespace)
	testutil.Eventually(t, "the dry runs of a namespace", share("many"))
	fill("other", trialsPerNamespace)
	testutil.Eventually(t, "the dry runs of another namespace", share("other"))
	for i := range maxWaiting / waitingPerNamespace {
		fill(fmt.Sprint("more-", i), waitingPerNamespace)
	}
	for range 40 { // more than the webhook checks at the same time
		ask("many", bad)
	}
	running, ended := writer.calls("many")
	if want := objects * trialsPerNamespace; running != want || ended > 0 {
		t.Errorf("%d calls for one namespace at the same time, want %d; %d calls ended before the checks of other stacks",
			running, want, ended)
	}
}

// TestInventedNamespaces checks that reviews for namespaces that do not exist take no place of the others. The webhook
// asks once for a namespace that exists.
func TestInventedNamespaces(t *testing.T) {
	const many = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`
	writer, asked := newSilent(), map[string]int{}
	close(writer.release)
	validator := newValidator(t, nil, writer)
	validator.options.NamespaceLabels = func(_ context.Context, namespace string) (map[string]string, error) {
		if asked[namespace]++; namespace == "team" {
			return nil, nil
		}
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), namespace)
	}
	validator.options.Claim = func(_ context.Context, key client.ObjectKey) (*corev1.PersistentVolumeClaim, error) {
		asked["claim in "+key.Namespace]++
		return nil, nil //nolint:nilnil // as the operator does for a claim that does not exist
	}
	for _, namespace := range []string{"invented-1", "invented-2", "not/a name", "team", "team"} {
		in := func(s *v1alpha2.LlamaStackDistribution) { s.Namespace = namespace }
		if got := validator.Handle(t.Context(), update(object(t, good, in), object(t, many, in))); !got.Allowed {
			t.Errorf("%s: denied: %v", namespace, got.Result)
		}
		calls, _ := writer.calls(namespace)
		if dry, exists := calls > 0 || asked["claim in "+namespace] > 0, namespace == "team"; dry != exists {
			t.Errorf("%s: dry run or claim: %t", namespace, dry)
		}
	}
	if asked["team"] != 1 || asked["not/a name"] != 0 {
		t.Errorf("reads of namespaces: %v", asked)
	}
}
