package caches

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// flooded returns metadata with as much text as the API server accepts in an object, with the labels of a child.
func flooded(owners ...metav1.OwnerReference) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Name: "my-service", Namespace: "ns", UID: "u", ResourceVersion: "5", Generation: 3, GenerateName: "my-",
		Labels: names.Labels("my"), Annotations: map[string]string{}, OwnerReferences: owners,
	}
	meta.Labels[names.LabelApp] = names.App
	for i := range 9500 {
		meta.Labels[fmt.Sprintf("%s.example/%d", strings.Repeat("a", 50), i)] = strings.Repeat("v", 63)
	}
	for i := range 250 {
		meta.Annotations[fmt.Sprintf("a.example/%d", i)] = strings.Repeat("v", 1000)
		meta.Finalizers = append(meta.Finalizers, fmt.Sprintf("f.example/%d", i))
		meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{UID: "o", Name: strings.Repeat("o", 100)})
		meta.ManagedFields = append(meta.ManagedFields, metav1.ManagedFieldsEntry{Manager: strings.Repeat("m", 100)})
	}
	return meta
}

// transformOf returns the transform that the caches use for a kind.
func transformOf(t *testing.T, object client.Object) func(any) (any, error) {
	t.Helper()
	switch object.(type) {
	case *v1alpha2.LlamaStackDistribution:
		return Options(nil).DefaultTransform
	case *unstructured.Unstructured:
		return OptionalOptions(nil).DefaultTransform
	case *metav1.PartialObjectMetadata: // a builder of the controller caches only metadata of this kind
		return transformOf(t, &corev1.ConfigMap{})
	}
	for kind, options := range Options(nil).ByObject {
		if fmt.Sprintf("%T", kind) == fmt.Sprintf("%T", object) {
			return options.Transform
		}
	}
	t.Fatalf("no cache for %T", object)
	return nil
}

// TestKeptBytes checks that a cache holds little of an object, whatever a tenant writes into the parts that the
// operator does not use. Each of these objects has about 1.5 MB. (Labels of 1.2 MB are F4.)
func TestKeptBytes(t *testing.T) {
	owned := func(kind schema.GroupVersionKind, name string) metav1.OwnerReference {
		return *metav1.NewControllerRef(&metav1.ObjectMeta{Name: name, UID: "owner"}, kind)
	}
	child := owned(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind), "my")
	ofSet := owned(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "my-1")
	ofDeployment := owned(appsv1.SchemeGroupVersion.WithKind("Deployment"), "my")
	long := strings.Repeat("x", 1<<20)
	longName, longKind := child, child
	longName.Name, longKind.Kind = long, long
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Labels: names.Labels("my"), OwnerReferences: []metav1.OwnerReference{child}}
	}
	spec := corev1.PodSpec{
		ServiceAccountName: "sa", Volumes: []corev1.Volume{{Name: long}},
		InitContainers: []corev1.Container{{Name: names.ExternalContainer, Image: long}},
	}
	service := corev1.ServiceSpec{ExternalName: long}
	secrets := []corev1.ObjectReference{{Name: long}}
	status := corev1.PodStatus{Message: long, ContainerStatuses: []corev1.ContainerStatus{{Image: long}}}
	route := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"host": "a.example", "path": long}}}
	route.SetName("my-route")
	route.SetOwnerReferences([]metav1.OwnerReference{child})
	for name, object := range map[string]client.Object{
		"a stack":                         &v1alpha2.LlamaStackDistribution{ObjectMeta: flooded()},
		"a Service":                       &corev1.Service{ObjectMeta: flooded(child)},
		"an unrelated Service":            &corev1.Service{ObjectMeta: flooded()},
		"the name of an owner":            &corev1.Service{ObjectMeta: flooded(longName)},
		"the kind of an owner":            &metav1.PartialObjectMetadata{ObjectMeta: flooded(longKind)},
		"the specification of a Service":  &corev1.Service{ObjectMeta: named("my-service"), Spec: service},
		"the Secrets of a ServiceAccount": &corev1.ServiceAccount{ObjectMeta: named("my-sa"), Secrets: secrets},
		"a Deployment":                    &appsv1.Deployment{ObjectMeta: flooded(child)},
		"a ConfigMap":                     &metav1.PartialObjectMetadata{ObjectMeta: flooded(child)},
		"a pod":                           &corev1.Pod{ObjectMeta: flooded(ofSet), Spec: spec, Status: status},
		"another pod":                     &corev1.Pod{ObjectMeta: flooded(), Spec: spec, Status: status},
		"a ReplicaSet": &appsv1.ReplicaSet{
			ObjectMeta: flooded(ofDeployment), Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: spec}},
		},
		"another ReplicaSet": &appsv1.ReplicaSet{
			ObjectMeta: flooded(), Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: spec}},
		},
		"an event": &corev1.Event{
			ObjectMeta: flooded(), Message: long, Reason: long, InvolvedObject: corev1.ObjectReference{Name: long},
		},
		"an Ingress": &networkingv1.Ingress{
			ObjectMeta: flooded(child), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: long}}},
		},
		"a Route": route,
	} {
		transform := transformOf(t, object)
		kept, err := transform(object)
		if err != nil {
			t.Fatal(err)
		}
		const most = 10 << 10
		if size := encoded(t, kept); size > most {
			t.Errorf("%s: %d bytes are kept, want at most %d", name, size, most)
		}
		again, err := transform(kept)
		if diff := cmp.Diff(kept, again); err != nil || diff != "" {
			t.Errorf("%s: a second transform changes the object (-first +second): %v\n%s", name, err, diff)
		}
		before, after := object, kept.(client.Object)
		if after.GetName() != before.GetName() || after.GetUID() != before.GetUID() {
			t.Errorf("%s: the identity is lost: %v", name, after)
		}
	}
}

// TestKeptMemory checks that a cache holds little of objects with many small entries, which need much more memory than
// their encoded form.
func TestKeptMemory(t *testing.T) {
	owned := func(kind, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: "my", Labels: names.Labels("my"),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha2.GroupVersion.String(), Kind: kind, Name: name, Controller: new(true),
			}},
		}
	}
	var many corev1.PodSpec
	for i := range 20_000 {
		container := corev1.Container{Name: fmt.Sprintf("c%d", i), Ports: []corev1.ContainerPort{httpPort}}
		many.Containers = append(many.Containers, container)
		many.InitContainers = append(many.InitContainers, container)
	}
	many.InitContainers[0].Name = names.ExternalContainer
	template := corev1.PodTemplateSpec{Spec: many}
	secrets, configMaps := *podSpec.DeepCopy(), *podSpec.DeepCopy()
	for i := range 20_000 {
		named := corev1.LocalObjectReference{Name: fmt.Sprintf("my-storage-%08d", i)}
		secrets.Containers[0].Env = append(secrets.Containers[0].Env, corev1.EnvVar{ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named},
		}})
		configMaps.Volumes = append(configMaps.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named},
		}})
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: owned(v1alpha2.Kind, "my"), Spec: appsv1.DeploymentSpec{Template: template},
	}
	orphan := deployment.DeepCopy()
	orphan.OwnerReferences = nil
	replicaSet := func(template corev1.PodSpec) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{
			ObjectMeta: owned("Deployment", "my"), Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: template}},
		}
	}
	recorded := replicaSet(podSpec)
	recorded.Annotations = map[string]string{
		names.AnnotationRendered:            `{"inputs": "i", "generation": 3, "left": ["` + strings.Repeat("x", 250<<10) + `"]}`,
		"deployment.kubernetes.io/revision": "4",
	}
	for name, object := range map[string]client.Object{
		"a pod":                         &corev1.Pod{ObjectMeta: owned("ReplicaSet", "my-1"), Spec: many},
		"a ReplicaSet":                  replicaSet(many),
		"a ReplicaSet with 60 servers":  replicaSet(corev1.PodSpec{Containers: many.Containers[:60]}),
		"a ReplicaSet with Secrets":     replicaSet(secrets),
		"a ReplicaSet with ConfigMaps":  replicaSet(configMaps),
		"a ReplicaSet with a record":    recorded,
		"a Deployment":                  deployment,
		"a Deployment without an owner": orphan,
	} {
		most := maxPod
		if _, ok := object.(*appsv1.ReplicaSet); ok {
			most = maxReplicaSet
		}
		kept, err := transformOf(t, object)(object)
		if err != nil || stub.Exceeds(kept, most) {
			t.Errorf("%s: more than %d bytes are kept: %v", name, most, err)
		}
	}
	kept, err := stripReplicaSet(recorded)
	want := map[string]string{
		names.AnnotationRendered:            `{"generation":3,"inputs":"i","image":"","distribution":{}}`,
		"deployment.kubernetes.io/revision": "4",
	}
	if diff := cmp.Diff(want, kept.(*appsv1.ReplicaSet).Annotations); err != nil || diff != "" {
		t.Errorf("a long record (-want +got): %v\n%s", err, diff)
	}
}

// TestStripEvent checks what is kept of events, whose number no quota limits.
func TestStripEvent(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	about := func(claim, kind, reason, message string) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{
				Name: "e", Namespace: "a", Labels: names.Labels("my"),
				OwnerReferences: []metav1.OwnerReference{{Name: long[:900], Controller: new(true)}},
			},
			Type: kind, Reason: reason, Message: message,
			InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "a", Name: claim, UID: "u"},
		}
	}
	for name, tc := range map[string]struct {
		event *corev1.Event
		most  int
		keeps string
	}{
		"a problem":            {about("my-pvc", "Warning", "ProvisioningFailed", "no room"), 512, "no room"},
		"no volume":            {about("my-pvc", "Normal", "FailedBinding", "no class"), 512, "no class"},
		"a long problem":       {about("my-pvc", "Warning", long, long), 3 << 9, "xxx"},
		"no problem":           {about("my-pvc", "Normal", long, long), 256, ""},
		"a claim of no stack":  {about("data", "Warning", "a", long), 256, ""},
		"a claim's long name":  {about(long[:300]+"-pvc", "Warning", "a", long), 256, ""},
		"a long kind of event": {about("my-pvc", long, "FailedBinding", "no class"), 512, "no class"},
	} {
		kept, err := stripEvent(tc.event)
		event, ok := kept.(*corev1.Event)
		if err != nil || !ok {
			t.Fatal(kept, err)
		}
		if size := encoded(t, event); size > tc.most || !strings.Contains(event.Message, tc.keeps) || event.Name != "e" {
			t.Errorf("%s: %d bytes are kept, want at most %d: %.200v", name, size, tc.most, event)
		}
	}
}

func encoded(t *testing.T, object any) int {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

func metadata(labels map[string]string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "x", Namespace: "ns", UID: "u", ResourceVersion: "5", Labels: labels, Finalizers: []string{"f.example/f"},
		Annotations:     map[string]string{corev1.LastAppliedConfigAnnotation: "much"},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m"}},
		OwnerReferences: []metav1.OwnerReference{{UID: "other"}, {UID: "o", Controller: new(true)}},
	}}
}

func TestStripMetadata(t *testing.T) {
	read := metadata(map[string]string{"app": "x"})
	foreign, err := stripMetadata(read)
	if err != nil {
		t.Fatal(err)
	}
	if foreign != any(read) {
		t.Error("the object was copied")
	}
	want := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "x", Namespace: "ns", UID: "u",
		ResourceVersion: "5",
	}}
	if diff := cmp.Diff(want, foreign); diff != "" {
		t.Errorf("object of another owner (-want +got):\n%s", diff)
	}
	kept, err := stripMetadata(metadata(map[string]string{names.LabelManagedBy: names.ManagedBy, "app.example": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	want.Labels = map[string]string{names.LabelManagedBy: names.ManagedBy}
	want.OwnerReferences = []metav1.OwnerReference{{UID: "o", Controller: new(true)}}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("child (-want +got):\n%s", diff)
	}
}

// podSpec is the specification of a pod with references to other objects.
var podSpec = func() (spec corev1.PodSpec) {
	err := yaml.UnmarshalStrict([]byte(`
serviceAccountName: sa
nodeName: "n"
volumes:
- {name: v, configMap: {name: my-config-1, defaultMode: 1}}
- {name: theirs, configMap: {name: config}}
- {name: empty}
containers:
- name: c
  image: i
  env:
  - {name: A, valueFrom: {secretKeyRef: {name: my-storage, key: k}}}
  - {name: AGAIN, valueFrom: {secretKeyRef: {name: my-storage, key: l}}}
  - {name: THEIRS, valueFrom: {secretKeyRef: {name: creds, key: k}}}
  - {name: B, value: plain}
  startupProbe: {periodSeconds: 2, httpGet: {scheme: HTTPS, port: 0}}
  ports: [{name: metrics, containerPort: 1}, {name: http, containerPort: 8321}]
`), &spec)
	if err != nil {
		panic(err) // the text is a constant
	}
	return spec
}()

var (
	httpsProbe = corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Scheme: "HTTPS"}}
	httpPort   = corev1.ContainerPort{Name: "http", ContainerPort: 8321}
)

func TestStripPod(t *testing.T) {
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, Reason: "r", PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{ready, {Type: "x.example/y"}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", ImageID: "i@sha256:1", Ready: true, ContainerID: "x"}},
	}
	of := func(kind string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Annotations:     map[string]string{names.AnnotationConstraint: "restricted-v2", "x.example": "y"},
			OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: "o", Controller: new(true)}},
		}, Spec: podSpec, Status: *status.DeepCopy()}
	}
	known := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{
		PodIP: "10.0.0.1",
		Phase: corev1.PodRunning, Reason: "r", Conditions: []corev1.PodCondition{ready},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", ImageID: "i@sha256:1", Ready: true}},
	}}
	known.Annotations = map[string]string{names.AnnotationConstraint: "restricted-v2"}
	foreign := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{ready}}}
	for kind, want := range map[string]*corev1.Pod{"ReplicaSet": known, v1alpha2.Kind: known, "Job": foreign} {
		want := want.DeepCopy()
		want.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "o", Controller: new(true)}}
		got, err := stripPod(of(kind))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("pod of a %s (-want +got): %v\n%s", kind, err, diff)
		}
	}
	installs, other := of("ReplicaSet"), of("ReplicaSet")
	installs.Spec.InitContainers = []corev1.Container{
		{Name: "external-provider-a", Image: "a", Command: []string{"sh"}}, {Name: names.ExternalContainer, Image: "i"},
	}
	other.Spec.InitContainers = []corev1.Container{{Name: "user", Image: "a"}}
	want := []corev1.Container{{Name: "external-provider-a", Image: "a"}, {Name: names.ExternalContainer, Image: "i"}}
	if diff := cmp.Diff(want, stripped(t, installs).Spec.InitContainers); diff != "" {
		t.Errorf("pod with external providers (-want +got):\n%s", diff)
	}
	if got := stripped(t, other).Spec.InitContainers; got != nil {
		t.Errorf("another pod: %v", got)
	}
}

func stripped(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	kept, err := stripPod(pod)
	if err != nil {
		t.Fatal(err)
	}
	return kept.(*corev1.Pod)
}

func TestStripReplicaSet(t *testing.T) {
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "my-1", Labels: map[string]string{names.LabelApp: names.App, names.LabelInstance: "my", "pod-template-hash": "1"},
			Annotations: map[string]string{
				names.AnnotationRendered: "record", "deployment.kubernetes.io/revision": "1",
				"deployment.kubernetes.io/revision-history": "0", "deployment.kubernetes.io/desired-replicas": "1",
			},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Deployment", Name: "my", UID: "d", Controller: new(true)}},
		},
		Spec:   appsv1.ReplicaSetSpec{Replicas: new(int32(2)), Template: corev1.PodTemplateSpec{Spec: podSpec}},
		Status: appsv1.ReplicaSetStatus{AvailableReplicas: 1},
	}
	set.Spec.Template.Annotations = map[string]string{names.AnnotationInputs: "digest", "x.example": "y"}
	want := set.DeepCopy()
	delete(want.Labels, "pod-template-hash")
	delete(want.Annotations, "deployment.kubernetes.io/desired-replicas")
	delete(want.Spec.Template.Annotations, "x.example")
	want.Spec.Template.Spec = corev1.PodSpec{
		ServiceAccountName: "sa",
		Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "my-config-1"},
		}}}},
		Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "my-storage"}},
		}}}, StartupProbe: &corev1.Probe{ProbeHandler: httpsProbe}, Ports: []corev1.ContainerPort{httpPort}}},
	}
	got, err := stripReplicaSet(set.DeepCopy())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ReplicaSet of a stack (-want +got): %v\n%s", err, diff)
	}
	set.OwnerReferences[0].Name = "another"
	foreign := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: "my-1", Labels: want.Labels,
		OwnerReferences: set.OwnerReferences,
	}}
	got, err = stripReplicaSet(set)
	if diff := cmp.Diff(foreign, got); diff != "" || err != nil {
		t.Errorf("another ReplicaSet (-want +got): %v\n%s", err, diff)
	}
}
