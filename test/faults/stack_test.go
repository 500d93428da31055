package faults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// stackName is the name of every stack. Each stack has its own namespace.
const stackName = "my"

// full is the spec of a stack with all kinds of children. NS is a placeholder for the namespace.
const full = `
distribution: {name: starter}
baseConfig: {configMapName: base}
providers:
  inference:
    id: vllm-primary
    provider: vllm
    endpoint: http://vllm:8000
    apiKey: {secretKeyRef: {name: creds, key: token}}
    settings: {max_tokens: 8192}
  safety: {provider: llama-guard}
  vectorIo:
    provider: pgvector
    host: {secretKeyRef: {name: creds, key: host}}
    user: {secretKeyRef: {name: creds, key: user}}
    apiKey: {secretKeyRef: {name: creds, key: password}}
    settings: {port: 5432, db: llamastack}
resources:
  models: [llama3.2-8b, {name: llama3.2-70b, provider: vllm-primary, contextLength: 128000}]
  tools: [websearch, rag]
  shields: [llama-guard]
storage:
  sql: {type: postgres, connectionString: {secretKeyRef: {name: creds, key: url}}}
disabled: [eval]
networking:
  port: 8322
  tls: {enabled: true, secretName: llama-tls, caBundle: {configMapName: custom-ca}}
  expose: {hostname: NS.example.com}
  allowedFrom: {namespaces: [app-ns], labels: [llama-access]}
workload:
  workers: 2
  resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: "2", memory: 4Gi}}
  autoscaling: {minReplicas: 1, maxReplicas: 5, targetCPUUtilization: 80}
  storage: {size: 10Gi, mountPath: /.llama}
  podDisruptionBudget: {minAvailable: 1}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
  overrides: {env: [{name: LLAMA_STACK_LOGGING, value: all=info}]}
externalProviders:
  inference: [{providerId: custom-inference, image: "registry.example.com/custom:v1"}]
`

// changed is a different spec for the same stack. It omits most options of the spec `full` and changes the others.
const changed = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://other:8000", apiKey: {secretKeyRef: {name: creds, key: token}}}
resources: {models: [llama3.2-8b]}
storage:
  sql: {type: postgres, connectionString: {secretKeyRef: {name: creds, key: url}}}
workload: {replicas: 2, storage: {size: 10Gi}}
`

// stage is a namespace with one stack and the objects to which the stack refers.
type stage struct {
	*cluster
	namespace string
}

func (c *cluster) newStage(t *testing.T) *stage {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "faults-"}}
	testutil.Must(t, c.Create(t.Context(), namespace))
	s := &stage{c, namespace.Name}
	s.create(t, s.creds(), s.base())
	s.create(t, &corev1.Secret{ObjectMeta: s.named("llama-tls"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{
		corev1.TLSCertKey: c.certificate, corev1.TLSPrivateKeyKey: c.key,
	}})
	s.create(t, &corev1.ConfigMap{
		ObjectMeta: s.named("custom-ca"),
		Data:       map[string]string{names.CABundleFile: string(c.certificate)},
	})
	return s
}

func (s *stage) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *stage) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		testutil.Must(t, s.Create(t.Context(), object))
	}
}

// creds returns the Secret with the credentials of all providers and stores.
func (s *stage) creds() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: s.named("creds"), StringData: map[string]string{
		"token": "sk-abc", "host": "postgres", "user": "llamastack", "password": "p@ss",
		"url": "postgresql://llamastack:p%40ss@postgres:5432/llamastack",
	}}
}

// base returns a user's base configuration.
func (s *stage) base() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: s.named("base"), Data: map[string]string{names.ConfigFile: s.baseConfig}}
}

// apply writes the stack.
func (s *stage) apply(t *testing.T, spec string) {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: s.named(stackName)}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the operator can write the status at the same time
		err := s.Get(t.Context(), client.ObjectKeyFromObject(stack), stack)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		missing := apierrors.IsNotFound(err)
		stack.Spec = v1alpha2.LlamaStackDistributionSpec{}
		if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(spec, "NS", s.namespace)), &stack.Spec); err != nil {
			return err
		}
		if missing {
			return s.Create(t.Context(), stack)
		}
		return s.Update(t.Context(), stack)
	})
	testutil.Must(t, err)
}

// get reads an object in the stage's namespace.
func (s *stage) get(t *testing.T, name string, into client.Object) {
	t.Helper()
	testutil.Must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into))
}

// ready returns nil if the stack is ready. Otherwise, it returns an error with the stack's conditions.
func (s *stage) ready(t *testing.T) error {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	s.get(t, stackName, stack)
	found := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionReady)
	if found == nil || found.Status != metav1.ConditionTrue || found.ObservedGeneration != stack.Generation {
		return fmt.Errorf("generation %d is not ready: %+v", stack.Generation, stack.Status.Conditions)
	}
	return nil
}

// reports returns nil if the message of a current condition contains all the given texts.
func (s *stage) reports(t *testing.T, what ...string) error {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	s.get(t, stackName, stack)
	for _, condition := range stack.Status.Conditions {
		missing := func(part string) bool { return !strings.Contains(condition.Message, part) }
		if condition.ObservedGeneration == stack.Generation && !slices.ContainsFunc(what, missing) {
			return nil
		}
	}
	return fmt.Errorf("no condition of generation %d contains %q: %+v", stack.Generation, what, stack.Status.Conditions)
}

// pods returns the UIDs of the stack's pods.
func (s *stage) pods(t *testing.T) []string {
	t.Helper()
	var list corev1.PodList
	testutil.Must(t, s.List(t.Context(), &list, client.InNamespace(s.namespace),
		client.MatchingLabels(names.Selector(stackName))))
	uids := make([]string, 0, len(list.Items))
	for i := range list.Items {
		uids = append(uids, string(list.Items[i].UID))
	}
	slices.Sort(uids)
	return uids
}

// kinds lists the kinds of objects that the operator creates in this cluster, and the kind of stacks.
var kinds = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	v1alpha2.GroupVersion.WithKind("LlamaStackDistribution"),
}

// outcome returns the stack, all objects that the operator created for it, and the numbers of pods and rollouts. It
// omits values that differ between two namespaces.
func (s *stage) outcome(t *testing.T) map[string]any {
	t.Helper()
	result := map[string]any{"pods": len(s.pods(t)), "rolled": s.rolled(t)}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		testutil.Must(t, s.List(t.Context(), list, client.InNamespace(s.namespace)))
		for i := range list.Items {
			object := &list.Items[i]
			content, err := json.Marshal(normalize(object))
			testutil.Must(t, err)
			var fields any
			testutil.Must(t, json.Unmarshal([]byte(s.anywhere(string(content))), &fields))
			result[kind.Kind+" "+s.anywhere(object.GetName())] = fields
		}
	}
	return result
}

// The digests of Secrets depend on the namespace. They are in the name of the Secret with derived values, and in the
// annotation that contains the pods' inputs, to which this name belongs.
var (
	inputsDigest = regexp.MustCompile(`("` + regexp.QuoteMeta(names.AnnotationInputs) + `":")[0-9a-f]+\.[0-9a-f]+"`)
	secretDigest = regexp.MustCompile(regexp.QuoteMeta(names.StorageSecret(stackName)) + `-[0-9a-f]{8}\b`)
)

// anywhere replaces the namespace and the digests of Secrets in a text with placeholders.
func (s *stage) anywhere(text string) string {
	text = strings.ReplaceAll(text, s.namespace, "NS")
	text = inputsDigest.ReplaceAllString(text, `${1}DIGEST"`)
	return secretDigest.ReplaceAllString(text, names.StorageSecret(stackName)+"-DIGEST")
}

// rolled returns the number of revisions of the Deployment.
func (s *stage) rolled(t *testing.T) int {
	t.Helper()
	var sets appsv1.ReplicaSetList
	testutil.Must(t, s.List(t.Context(), &sets, client.InNamespace(s.namespace)))
	return len(sets.Items)
}

// normalize returns an object without the values that differ in every run.
func normalize(object *unstructured.Unstructured) map[string]any {
	references := object.GetOwnerReferences()
	for i := range references {
		references[i].UID = ""
	}
	annotations := object.GetAnnotations()
	delete(annotations, names.AnnotationRendered) // the annotation contains the object's generation
	delete(annotations, "deployment.kubernetes.io/revision")
	delete(annotations, corev1.LastAppliedConfigAnnotation) // kubectl writes this annotation
	if len(annotations) == 0 {
		annotations = nil
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok {
			delete(fields, "lastTransitionTime")
			delete(fields, "observedGeneration")
		}
	}
	// This annotation contains the stack's UID and generation.
	unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "annotations",
		names.AnnotationGeneration)
	kept := map[string]any{
		"labels": object.GetLabels(), "annotations": annotations, "owners": references,
		"spec": object.Object["spec"], "data": object.Object["data"],
	}
	if spec, ok := kept["spec"].(map[string]any); ok {
		maps.DeleteFunc(spec, func(key string, _ any) bool { return strings.HasPrefix(key, "clusterIP") })
	}
	if object.GetKind() == "LlamaStackDistribution" {
		kept["conditions"] = conditions
	}
	return kept
}

// same returns nil if the stack is ready and its outcome is want. Otherwise, it returns an error with the reason.
func (s *stage) same(t *testing.T, want map[string]any) error {
	t.Helper()
	if err := s.ready(t); err != nil {
		return err
	}
	return differ("another outcome", cmp.Diff(want, s.outcome(t)))
}

// settle waits until the stack is ready and idle, and returns its outcome.
func (s *stage) settle(t *testing.T) map[string]any {
	t.Helper()
	eventually(t, "the stack is ready", func() error { return s.ready(t) })
	before := s.outcome(t)
	since := time.Now()
	eventually(t, "the stack is idle", func() error {
		if now := s.outcome(t); !cmp.Equal(before, now) {
			before, since = now, time.Now()
		}
		if time.Since(since) < quiet {
			return errors.New("the stack still changes")
		}
		return nil
	})
	return before
}

// quiet is the time without a change after which a stack is treated as idle.
const quiet = 500 * time.Millisecond

// claim returns the UID of the PersistentVolumeClaim with the stack's data.
func (s *stage) claim(t *testing.T) string {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	s.get(t, names.PersistentVolumeClaim(stackName), claim)
	return string(claim.UID)
}

// remove deletes the stack, so that the next operator has fewer objects to read.
func (s *stage) remove(t *testing.T) {
	t.Helper()
	testutil.Must(t, s.Delete(t.Context(), &v1alpha2.LlamaStackDistribution{ObjectMeta: s.named(stackName)}))
}
