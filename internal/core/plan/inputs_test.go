package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

func workloadWith(text string) func(string) string {
	return func(spec string) string { return strings.Replace(spec, "replicas: 1,", text+",", 1) }
}

func overriding(text string) func(string) string {
	return func(spec string) string { return strings.Replace(spec, "overrides: {", "overrides: {"+text+", ", 1) }
}

func addText(text string) func(string) string { return func(spec string) string { return spec + text } }

type inputChange struct {
	spec  func(string) string
	input func(*plan.Input)
}

// seenByThePod contains a change to each of the inputs that affect pods.
var seenByThePod = map[string]inputChange{
	"image":                 {input: func(in *plan.Input) { in.Distribution.Image = "other:1" }},
	"digest of the image":   {input: func(in *plan.Input) { in.Digest = "sha256:abc" }},
	"config":                {spec: addText("disabled: [eval]\n")},
	"name of a Secret":      {spec: func(s string) string { return strings.Replace(s, "vllm-creds", "other", 1) }},
	"key of a Secret":       {spec: func(s string) string { return strings.Replace(s, "key: token", "key: other", 1) }},
	"secretEnv":             {spec: addText("secretEnv: {B: {secretKeyRef: {name: b, key: b}}}\n")},
	"port":                  {spec: addText("networking: {port: 9000}\n")},
	"certificate":           {spec: addText("networking: {tls: {enabled: true, secretName: a}}\n")},
	"trusted certificates":  {input: func(in *plan.Input) { in.Trust.Own = [][]byte{[]byte("a")} }},
	"workers":               {spec: workloadWith("workers: 2")},
	"resources":             {spec: workloadWith("resources: {requests: {cpu: 2}}")},
	"storage":               {spec: workloadWith("storage: {}")},
	"mountPath":             {spec: workloadWith("storage: {mountPath: /data}")},
	"spread":                {spec: workloadWith("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]")},
	"serviceAccountName":    {spec: overriding("serviceAccountName: mine")},
	"imagePullSecrets":      {spec: overriding("imagePullSecrets: [{name: mine}]")},
	"imagePullPolicy":       {spec: overriding("imagePullPolicy: Always")},
	"podLabels":             {spec: overriding("podLabels: {a: b}")},
	"podAnnotations":        {spec: overriding("podAnnotations: {a: b}")},
	"env":                   {spec: func(s string) string { return strings.Replace(s, `value: "1"`, `value: "2"`, 1) }},
	"envFrom":               {spec: overriding("envFrom: [{secretRef: {name: a}}]")},
	"command":               {spec: overriding("command: [a]")},
	"args":                  {spec: overriding("args: [a]")},
	"volumes":               {spec: overriding("volumes: [{name: a, emptyDir: {}}]")},
	"volumeMounts":          {spec: overriding("volumeMounts: [{name: lls-storage, mountPath: /a}]")},
	"terminationGrace":      {spec: overriding("terminationGracePeriodSeconds: 60")},
	"podTemplate":           {spec: overriding("podTemplate: {spec: {hostNetwork: true}}")},
	"offline":               {spec: addText("offline: true\n")},
	"files from a volume":   {spec: addText("modelFiles: {persistentVolumeClaim: {claimName: a}}\n")},
	"files from an image":   {spec: addText("modelFiles: {image: {reference: a}, tiktokenCache: a}\n")},
	"override":              {spec: func(string) string { return "overrideConfig: {configMapName: mine, key: server.yaml}\n" }},
	"image's configuration": {spec: func(string) string { return "distribution: {name: starter}\n" }},
}

// The digest contains exactly the inputs of the template: a change that affects a pod replaces the pod, and any other
// change does not. The digest and the renderers are separate code, and this table compares them.
func TestInputsMatchThePodTemplate(t *testing.T) {
	const from = `
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
workload: {replicas: 1, overrides: {env: [{name: A, value: "1"}]}}
`

	blind := map[string]inputChange{
		"nothing":                          {},
		"replicas":                         {spec: workloadWith("replicas: 5")},
		"the default port, set explicitly": {spec: addText("networking: {port: 8321}\n")},
		"expose":                           {spec: addText("networking: {expose: true}\n")},
		"allowedFrom":                      {spec: addText("networking: {allowedFrom: {namespaces: [a]}}\n")},
		"podDisruptionBudget":              {spec: workloadWith("podDisruptionBudget: {minAvailable: 1}")},
		"autoscaling":                      {spec: workloadWith("autoscaling: {maxReplicas: 3}")},
		"network policies of the cluster":  {input: func(in *plan.Input) { in.Cluster.NetworkPolicies = true }},
		"endpoints of the running pods": {input: func(in *plan.Input) {
			in.Running.Deployment, in.Running.ReplicaSets = runningPods()
		}},
		"labels of the stack":     {input: func(in *plan.Input) { in.Object.Labels = map[string]string{"a": "b"} }},
		"generation":              {input: func(in *plan.Input) { in.Object.Generation = 99 }},
		"version of the operator": {input: func(in *plan.Input) { in.OperatorVersion = "v99" }},
		"image of the catalog":    {input: func(in *plan.Input) { in.CatalogueImage = "other:1" }},
		"running release":         {input: func(in *plan.Input) { in.Running.Record.Distribution.Release = "0.6" }},
		"label of the release":    {input: func(in *plan.Input) { in.Distribution.Label = "0.7.1" }},
		"source of the base":      {input: func(in *plan.Input) { in.Base.Source = "oci-label" }},
	}
	start := build(t, input(t, from)).Rendered.Record
	for _, name := range slices.Sorted(maps.Keys(seenByThePod)) {
		if got := changed(t, from, seenByThePod[name].spec, seenByThePod[name].input); got.Inputs == start.Inputs ||
			got.Template == start.Template {
			t.Errorf("%s: inputs changed %v, template changed %v; want both",
				name, got.Inputs != start.Inputs, got.Template != start.Template)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(blind)) {
		if got := changed(t, from, blind[name].spec, blind[name].input); got.Inputs != start.Inputs ||
			got.Template != start.Template {
			t.Errorf("%s: inputs changed %v, template changed %v; want neither",
				name, got.Inputs != start.Inputs, got.Template != start.Template)
		}
	}
}

// runningPods returns a Deployment and a ReplicaSet whose pods serve HTTPS on another port.
func runningPods() (*appsv1.Deployment, []appsv1.ReplicaSet) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	set := appsv1.ReplicaSet{}
	kind := appsv1.SchemeGroupVersion.WithKind("Deployment")
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, kind)}
	set.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: names.ServerContainer(nil), Ports: []corev1.ContainerPort{{Name: names.PortName, ContainerPort: 1}},
		StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTPS},
		}},
	}}
	return deployment, []appsv1.ReplicaSet{set}
}

func changed(t *testing.T, spec string, edit func(string) string, change func(*plan.Input)) rollout.Record {
	t.Helper()
	edited := spec
	if edit != nil {
		if edited = edit(spec); edited == spec {
			t.Fatalf("the edit does not change the spec %s", spec)
		}
	}
	in := input(t, edited)
	if change != nil {
		change(&in)
	}
	return build(t, in).Rendered.Record
}

// A change to the references changes only the digest in the annotation. The template's own digest does not include the
// references.
func TestReferencesAreInTheAnnotation(t *testing.T) {
	in := input(t, "disabled: [eval]\n")
	without := build(t, in)
	in.References = rollout.References{Digest: "abc", Key: "k1"}
	with := build(t, in)
	if got, want := with.Rendered.Record.Inputs, without.Rendered.Record.Inputs+".abc"; got != want {
		t.Errorf("inputs %q, want %q", got, want)
	}
	if with.Rendered.Record.ReferenceKey != "k1" || with.Rendered.Record.Template != without.Rendered.Record.Template {
		t.Errorf("record %+v", with.Rendered.Record)
	}
	annotations := with.Rendered.Deployment.Spec.Template.Annotations
	if annotations[names.AnnotationInputs] != with.Rendered.Record.Inputs ||
		annotations[names.AnnotationConfigHash] != with.ConfigHash {
		t.Errorf("annotations %v", annotations)
	}
	written, ok := rollout.Parse(with.Rendered.Deployment.Annotations)
	unstored := cmpopts.IgnoreFields(retention.Places{}, "Adopts", "Served", "Inference", "Rules")
	if diff := cmp.Diff(with.Rendered.Record, written, unstored); !ok || diff != "" {
		t.Errorf("record on the Deployment (-want +got):\n%s", diff)
	}
}

// The compatibility annotation and the annotation with the container's name change the digest of the inputs.
func TestTheCompatMarkIsAnInput(t *testing.T) {
	in := input(t, "disabled: [eval]\n")
	without := build(t, in).Rendered.Record.Inputs
	in.Object.Annotations = map[string]string{names.AnnotationCompat: "v1alpha1"}
	with := build(t, in).Rendered.Record.Inputs
	if with == without {
		t.Error("the compatibility annotation does not change the digest")
	}
	in.Object.Annotations[names.AnnotationContainerName] = "mine"
	if named := build(t, in).Rendered.Record.Inputs; named == with {
		t.Error("the container's name does not change the digest")
	}
}
