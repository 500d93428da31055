package refusal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// spec sets fields of all kinds. Its lists are not in the order in which they are rendered.
const spec = `
distribution: {name: starter}
networking:
  port: 9000
  allowedFrom: {namespaces: [team-a], labels: [trusted, tier=gold]}
  expose: {hostname: a_b, annotations: {a: b}}
workload:
  replicas: 2
  resources: {limits: {gpu: 1}}
  storage: {storageClassName: A_b, size: 1Gi}
  autoscaling: {maxReplicas: 3}
  podDisruptionBudget: {minAvailable: 1}
  overrides:
    podLabels: {a: b c}
    env: [{name: A, value: a}, {name: B, value: b}]
    volumes: [{name: theirs}]
    volumeMounts: [{name: theirs, mountPath: /x}]
    podTemplate:
      metadata: {annotations: {"c d": e}}
      spec:
        dnsPolicy: Nope
        tolerations: [{operator: Like}]
        containers:
        - {name: side, image: a, ports: [{containerPort: 80, name: A_b}]}
        - {name: llama-stack, securityContext: {privileged: true}}
`

const template = `
metadata: {labels: {a: b c}, annotations: {"c d": e}}
spec:
  dnsPolicy: Nope
  tolerations: [{operator: Like}]
  volumes: [{name: lls-storage}, {name: theirs}]
  initContainers: [{name: ours}]
  containers:
  - name: llama-stack
    env: [{name: OURS}, {name: B}, {name: A}]
    resources: {limits: {gpu: 1}}
    securityContext: {privileged: true}
    volumeMounts: [{name: lls-storage, mountPath: /data}, {name: theirs, mountPath: /x}]
  - {name: side, image: a, ports: [{containerPort: 80, name: A_b}]}
`

func rendered(t *testing.T, kind, content string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if kind == "Deployment" {
		content = "spec:\n  template:\n" + strings.ReplaceAll(template, "\n", "\n    ")
	}
	data, err := yaml.YAMLToJSON([]byte("kind: " + kind + "\nmetadata: {name: my}\n" + content))
	if err == nil {
		err = object.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func stackOf(t *testing.T, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	if err := yaml.UnmarshalStrict([]byte(spec), &stack.Spec); err != nil {
		t.Fatal(err)
	}
	return stack
}

// TestField checks the path in the spec for the paths that the API server names.
func TestField(t *testing.T) {
	for at, want := range map[string]string{
		"Deployment spec.template.spec.containers[0].resources.limits[gpu]":           "spec.workload.resources.limits[gpu]",
		"Deployment spec.template.spec.containers[0].env[1].value":                    "spec.workload.overrides.env[1].value",
		"Deployment spec.template.spec.containers[0].env[0].name":                     "",
		"Deployment spec.template.spec.containers[0].volumeMounts[1].name":            "spec.workload.overrides.volumeMounts[0].name",
		"Deployment spec.template.spec.containers[0].volumeMounts[0].name":            "",
		"Deployment spec.template.spec.containers[0].securityContext":                 "spec.workload.overrides.podTemplate.spec.containers[1].securityContext",
		"Deployment spec.template.spec.containers[0].securityContext.procMount":       "spec.workload.overrides.podTemplate.spec.containers[1].securityContext.procMount",
		"Deployment spec.template.spec.containers[0].livenessProbe.httpGet":           "",
		"Deployment spec.template.spec.containers[0].ports[0].containerPort":          "spec.networking.port",
		"Deployment spec.template.spec.containers[1].ports[0].name":                   "spec.workload.overrides.podTemplate.spec.containers[0].ports[0].name",
		"Deployment spec.template.spec.volumes[1]":                                    "spec.workload.overrides.volumes[0]",
		"Deployment spec.template.spec.volumes[0]":                                    "",
		"Deployment spec.template.spec.initContainers[0].image":                       "",
		"Deployment spec.template.spec.dnsPolicy":                                     "spec.workload.overrides.podTemplate.spec.dnsPolicy",
		"Deployment spec.template.spec.tolerations[0].operator":                       "spec.workload.overrides.podTemplate.spec.tolerations[0].operator",
		"Deployment spec.template.spec.tolerations[0].key":                            "spec.workload.overrides.podTemplate.spec.tolerations[0].key",
		"Deployment spec.template.labels":                                             "spec.workload.overrides.podLabels",
		"Deployment spec.template.annotations":                                        "spec.workload.overrides.podTemplate.metadata.annotations",
		"Deployment spec.replicas":                                                    "spec.workload.replicas",
		"Deployment spec.selector":                                                    "",
		"Deployment metadata.name":                                                    "metadata.name",
		"PersistentVolumeClaim spec.storageClassName":                                 "spec.workload.storage.storageClassName",
		"PersistentVolumeClaim spec.resources[storage]":                               "spec.workload.storage.size",
		"PersistentVolumeClaim spec.accessModes[0]":                                   "",
		"Service spec.ports[0].port":                                                  "spec.networking.port",
		"Ingress spec.rules[0].host":                                                  "spec.networking.expose.hostname",
		"Ingress metadata.annotations":                                                "spec.networking.expose.annotations",
		"HTTPRoute spec.hostnames[0]":                                                 "spec.networking.expose.hostname",
		"HorizontalPodAutoscaler spec.maxReplicas":                                    "spec.workload.autoscaling.maxReplicas",
		"PodDisruptionBudget spec.minAvailable":                                       "spec.workload.podDisruptionBudget.minAvailable",
		"NetworkPolicy spec.ingress[0].from[0].podSelector":                           "",
		"NetworkPolicy spec.ingress[0].from[1].namespaceSelector.matchLabels":         "spec.networking.allowedFrom.namespaces[0]",
		"NetworkPolicy spec.ingress[0].from[2].namespaceSelector.matchLabels":         "spec.networking.allowedFrom.labels[1]",
		"NetworkPolicy spec.ingress[0].from[3].namespaceSelector.matchExpressions[0]": "spec.networking.allowedFrom.labels[0]",
		"NetworkPolicy spec":                                                          "",
	} {
		t.Run(at, func(t *testing.T) {
			kind, in, _ := strings.Cut(at, " ")
			source, err := newSource(stackOf(t, spec))
			if err != nil {
				t.Fatal(err)
			}
			object := rendered(t, kind, `spec: {ingress: [{from: [{podSelector: {}},
  {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-a}}},
  {namespaceSelector: {matchLabels: {tier: gold}}},
  {namespaceSelector: {matchExpressions: [{key: trusted, operator: Exists}]}}]}]}`)
			if got := source.field(parse(in), object).String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestExplain checks the words for a rejection, and that they contain no objects and no long values.
func TestExplain(t *testing.T) {
	at := fieldpath.NewPath("spec", "template", "spec")
	server := at.Child("containers").Index(0)
	answer := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "my", fieldpath.ErrorList{
		fieldpath.Invalid(server.Child("resources", "limits").Key("gpu"), "gpu", "must be a resource"),
		fieldpath.Invalid(server.Child("securityContext"), map[string]any{"a: b": "}: "}, "no"),
		fieldpath.Invalid(at.Child("dnsPolicy"), strings.Repeat("x", 200), "is unknown"),
		fieldpath.Required(fieldpath.NewPath("spec", "selector"), ""),
		fieldpath.Forbidden(fieldpath.NewPath("spec"), "is immutable\n  core.Spec{\n- a\n+ b"),
	})
	err := Explain(fmt.Errorf("apply: %w", answer), stackOf(t, spec), rendered(t, "Deployment", ""))
	const want = `spec.workload.resources.limits[gpu]: the API server rejects Deployment "my": Invalid value: "gpu": must be a resource
spec.workload.overrides.podTemplate.spec.containers[1].securityContext: the API server rejects Deployment "my": no
spec.workload.overrides.podTemplate.spec.dnsPolicy: the API server rejects Deployment "my": is unknown
the API server rejects Deployment "my": spec.selector: Required value
the API server rejects Deployment "my": spec: Forbidden: is immutable`
	explained, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("not explained: %v", err)
	}
	if got := strings.Join(explained.Texts, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !Invalid(err) {
		t.Error("the API server's answer is lost")
	}
}

// TestInvalid checks that only the API server's own validation counts, because an administrator can change everything
// else that rejects an object.
func TestInvalid(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{}, "a", fieldpath.ErrorList{fieldpath.Required(fieldpath.NewPath("a"), "")})
	from := func(message string) error {
		answer := *invalid
		answer.ErrStatus.Message = message
		return &answer
	}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"fields":             {invalid, true},
		"fields of two":      {errors.Join(invalid, fmt.Errorf("apply: %w", invalid)), true},
		"fields and a quota": {errors.Join(invalid, apierrors.NewForbidden(schema.GroupResource{}, "a", errors.New("exceeded quota"))), false},
		"a policy":           {from("ValidatingAdmissionPolicy 'a' with binding 'b' denied request: no"), false},
		"a webhook":          {from(`admission webhook "a.example.com" denied the request: no`), false},
		"no fields":          {&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid}}, false},
		"a conflict":         {apierrors.NewConflict(schema.GroupResource{}, "a", nil), false},
	} {
		if got := Invalid(tc.err); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestReason(t *testing.T) {
	if got := len(Reason(strings.Repeat("x", 10*maxReason))); got > maxReason+len("…") {
		t.Errorf("a long answer has %d bytes", got)
	}
}
