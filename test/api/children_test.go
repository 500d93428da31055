package api

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

var (
	children = flag.Int("children", 150, "number of random changes to the parts of a stack that become parts of its objects")
	seed     = flag.Uint64("seed", 1, "seed of the random changes")
)

// wholePod is a valid spec with many of the parts that become parts of pods and other objects.
const wholePod = `
distribution: {name: starter, version: "1.5"}
networking:
  expose: {hostname: a.example.com, annotations: {example.com/a: b}}
  allowedFrom: {namespaces: [a], labels: [a/b=c]}
workload:
  replicas: 1
  resources: {limits: {cpu: "2", memory: 2Gi, nvidia.com/gpu: "1"}, requests: {cpu: "1", memory: 1Gi}}
  storage: {size: 1Gi, storageClassName: fast, accessModes: [ReadWriteOnce]}
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    minDomains: 1
    labelSelector: {matchLabels: {a: b}}
  podDisruptionBudget: {minAvailable: 1}
  overrides:
    podLabels: {a: b}
    podAnnotations: {a: b}
    terminationGracePeriodSeconds: 10
    env:
    - {name: A, value: b}
    - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "1"}}}
    - {name: D, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
    - {name: E, valueFrom: {configMapKeyRef: {name: c, key: k}}}
    envFrom: [{prefix: P_, configMapRef: {name: c}}, {secretRef: {name: s}}]
    volumes:
    - {name: v, emptyDir: {sizeLimit: 1Gi}}
    - {name: c, configMap: {name: c, defaultMode: 420, items: [{key: a, path: b, mode: 256}]}}
    - {name: s, secret: {secretName: s, items: [{key: a, path: b/c}]}}
    - {name: p, persistentVolumeClaim: {claimName: p}}
    - name: q
      projected: {sources: [{configMap: {name: c}}, {serviceAccountToken: {path: t, expirationSeconds: 3600}}]}
    - {name: h, hostPath: {path: /h}}
    volumeMounts:
    - {name: v, mountPath: /v, subPath: a, readOnly: true}
    - {name: c, mountPath: /c, mountPropagation: None}
    podTemplate:
      metadata: {labels: {x: "y"}, annotations: {x: "y"}}
      spec:
        nodeSelector: {a: b}
        priorityClassName: high
        runtimeClassName: kata
        schedulerName: mine
        hostname: h
        subdomain: s
        dnsPolicy: None
        dnsConfig: {nameservers: [10.0.0.1], searches: [a.b]}
        hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
        tolerations: [{key: a, operator: Equal, value: b, effect: NoExecute, tolerationSeconds: 5}, {operator: Exists}]
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]
            preferredDuringSchedulingIgnoredDuringExecution:
            - {weight: 5, preference: {matchExpressions: [{key: a, operator: Exists}]}}
          podAntiAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
            - {topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}}
        securityContext:
          fsGroup: 5
          fsGroupChangePolicy: Always
          supplementalGroups: [5]
          sysctls: [{name: net.core.somaxconn, value: "5"}]
        readinessGates: [{conditionType: a.b/c}]
        initContainers: [{name: first, image: i, restartPolicy: Always, resources: {limits: {cpu: 1m}}}]
        containers:
        - name: side
          image: i
          ports: [{name: web, containerPort: 80, hostPort: 81, protocol: TCP}]
          env: [{name: A, value: b}]
          livenessProbe: {httpGet: {path: /, port: web}, periodSeconds: 5, successThreshold: 1, failureThreshold: 3}
          readinessProbe: {tcpSocket: {port: 80}}
          lifecycle: {preStop: {exec: {command: [a]}}}
          securityContext:
            allowPrivilegeEscalation: false
            runAsUser: 5
            capabilities: {drop: [ALL]}
            seccompProfile: {type: RuntimeDefault}
          volumeMounts: [{name: v, mountPath: /v}]
`

// TestChildren changes a valid spec at random, and compares two answers: whether validate.Spec accepts the stack, and
// whether the API server accepts the objects that the operator makes of it. It omits stacks that the API server rejects
// itself.
func TestChildren(t *testing.T) {
	var whole map[string]any
	if err := yaml.Unmarshal([]byte(wholePod), &whole); err != nil {
		t.Fatal(err)
	}
	admin, err := plane.Client()
	if err != nil {
		t.Fatal(err)
	}
	if known, answer := answers(t, admin, whole); known != nil || answer != nil {
		t.Fatalf("the unchanged stack: validate.Spec: %v; API server: %v", known, answer)
	}
	random, refused, accepted := rand.New(rand.NewPCG(*seed, 0)), 0, 0
	for range *children {
		spec := runtime.DeepCopyJSON(whole)
		m := mutation{Rand: random}
		m.change(spec, "workload", "networking")
		known, answer := answers(t, admin, spec)
		switch {
		case errors.Is(answer, errNotStored):
		case known == nil && answer != nil:
			t.Errorf("%s: validate.Spec accepts the stack, and the API server rejects an object: %v", m.done, answer)
		case known != nil && strings.HasPrefix(known.Error(), "spec.networking.expose"): // only the operator decodes it
		case known != nil && answer == nil:
			t.Errorf("%s: the API server accepts all objects, and validate.Spec rejects the stack: %v", m.done, known)
		case answer != nil:
			refused++
		default:
			accepted++
		}
	}
	t.Logf("both accept %d and both reject %d of %d changes", accepted, refused, *children)
	if refused < *children/20 || accepted < *children/20 {
		t.Error("the changes do not have both results often enough")
	}
}

// errNotStored means that the API server rejects the stack itself.
var errNotStored = errors.New("the API server rejects the stack")

// answers returns the answer of validate.Spec and that of the API server.
func answers(t *testing.T, admin client.Client, spec map[string]any) (known, answer error) {
	t.Helper()
	raw := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha2.GroupVersion.String(), "kind": v1alpha2.Kind,
		"metadata": map[string]any{"name": "children", "namespace": metav1.NamespaceDefault}, "spec": spec,
	}}
	strict := client.FieldValidation(metav1.FieldValidationStrict)
	if admin.Create(t.Context(), raw.DeepCopy(), client.DryRunAll, strict) != nil {
		return nil, errNotStored
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	data, err := json.Marshal(raw.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, stack); err != nil {
		return nil, errNotStored
	}
	stack.UID = "u"
	in, _, errs := validate.Spec(stack)
	resolved, err := distribution.Resolve("starter", "", "1.5", nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := plan.Build(plan.Input{
		Object: stack, Intent: in, Distribution: resolved, Cluster: render.Cluster{},
		Base: &plan.Base{Data: resolved.Base, Source: v1alpha2.ConfigSourceEmbedded},
	})
	if err != nil {
		return errs.ToAggregate(), errNotStored // package plan reports it in validate, too
	}
	for _, object := range built.Objects {
		child, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		child.SetOwnerReferences(nil)
		err = admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(child), client.DryRunAll,
			client.FieldOwner(names.FieldManager), client.ForceOwnership)
		repeated := err != nil && strings.Contains(err.Error(), "duplicate entries for key") // an internal error
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || repeated {
			return errs.ToAggregate(), fmt.Errorf("%s: %w", object.GVK.Kind, err)
		}
	}
	return errs.ToAggregate(), nil
}

// mutation is a random change to one place in a tree of JSON values.
type mutation struct {
	*rand.Rand
	done string
}

var (
	words = []string{
		"", "A_b", "a b", "../x", "x", "-a", "a/b/c", "a/b", strings.Repeat("a", 64), strings.Repeat("a", 254), "Nope", "1",
		"10.0.0.1",
		"Exists", "In", "Gt", "Never", "a.b", "limits.memory", "/x", "-1", "500m", "3Mi", "Localhost", "UDP",
	}
	numbers = []int64{-1, 0, 1, 2, 101, 600, 1000, 65535, 65536}
	keys    = []string{
		"gpu", "a b", "example.com/x", "hugepages-2Mi", "emptyDir", "configMap", "secretRef", "configMapRef", "exec",
		"httpGet",
		"value", "valueFrom", "subPath", "operator", "x",
	}
)

// change changes one place below one of the given keys.
func (m *mutation) change(spec map[string]any, below ...string) {
	at := below[m.IntN(len(below))]
	spec[at] = m.value(spec[at], at)
}

// value returns a value that is changed somewhere.
func (m *mutation) value(value any, path string) any {
	switch value := value.(type) {
	case map[string]any:
		return m.object(value, path)
	case []any:
		switch {
		case len(value) > 0 && m.IntN(8) > 0:
			i := m.IntN(len(value))
			value[i] = m.value(value[i], fmt.Sprintf("%s[%d]", path, i))
		case len(value) > 0 && m.IntN(2) == 0:
			m.done = path + " repeated"
			return append(value, runtime.DeepCopyJSONValue(value[0]))
		default:
			m.done = path + " empty"
			return []any{}
		}
		return value
	case string:
		word := words[m.IntN(len(words))]
		m.done = fmt.Sprintf("%s: %q", path, word)
		return word
	case bool:
		m.done = fmt.Sprintf("%s: %t", path, !value)
		return !value
	default:
		number := numbers[m.IntN(len(numbers))]
		m.done = fmt.Sprintf("%s: %d", path, number)
		return number
	}
}

func (m *mutation) object(object map[string]any, path string) any {
	names := slices.Sorted(maps.Keys(object))
	if len(names) == 0 || m.IntN(12) == 0 {
		key := keys[m.IntN(len(keys))]
		object[key] = []any{"x", int64(1), map[string]any{}, map[string]any{"name": "x"}}[m.IntN(4)]
		m.done = fmt.Sprintf("%s.%s: %v", path, key, object[key])
		return object
	}
	name := names[m.IntN(len(names))]
	if m.IntN(10) == 0 {
		m.done = fmt.Sprintf("%s without %s", path, name)
		delete(object, name)
		return object
	}
	object[name] = m.value(object[name], path+"."+name)
	return object
}
