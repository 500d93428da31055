package faults_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// before is the path of an older operator's binary. If it is set, the upgrade begins with the objects that the older
// operator creates, and the test writes these objects to the cases. The cases in the repository contain the objects of
// the commit that last changed them.
var before = flag.String("before", "", "program of the operator to upgrade from; if set, the test rewrites testdata/upgrade")

const (
	upgrades = "testdata/upgrade"
	// someUID is a placeholder for the stack's UID in a case.
	someUID = types.UID("00000000-0000-0000-0000-000000000000")
)

// testUpgrade starts the current operator in a cluster with the stacks of an older operator. The pods and the objects
// on which they depend must not change.
func testUpgrade(t *testing.T, th *theatre, order int) {
	t.Helper()
	th.operator.kill(t)
	stages := th.oldStages(t)
	was := make([]running, len(stages))
	for i, s := range stages {
		eventually(t, "the pods are available before the upgrade", func() error { return s.available(t) })
		was[i] = s.running(t)
	}
	th.calm()
	th.operator.start(t)
	r := row{order: order, fault: "the operator is upgraded", pods: "unchanged"}
	r.converged = append(r.converged, eventually(t, "the operator has observed every stack", func() error {
		var missing []error
		for _, s := range stages {
			missing = append(missing, s.observed(t))
		}
		return errors.Join(missing...)
	}))
	for i, s := range stages {
		s.settle(t)
		if diff := was[i].untouched(s.running(t)); diff != "" {
			t.Errorf("%s, before and after the upgrade (-want +got):\n%s", s.namespace, diff)
		}
	}
	r.writes = strconv.Itoa(th.written())
	th.table.add(t, r)
	for _, s := range stages {
		s.remove(t)
	}
}

// oldStages returns the stacks of all cases, with the objects that an older operator created for each of them.
func (th *theatre) oldStages(t *testing.T) []*stage {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(upgrades, "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d cases in %s, error %v", len(folders), upgrades, err)
	}
	stages := make([]*stage, len(folders))
	for i, folder := range folders {
		stages[i] = &stage{th.cluster, "upgrade-" + filepath.Base(folder)}
		stages[i].create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: stages[i].namespace}})
		certificate, key := testutil.SameCertificate(t)
		stages[i].create(t, &corev1.Secret{
			ObjectMeta: stages[i].named("llama-tls"), Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{
				corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key,
			},
		})
		stages[i].create(t, &corev1.ConfigMap{
			ObjectMeta: stages[i].named("custom-ca"),
			Data:       map[string]string{names.CABundleFile: string(certificate)},
		})
		for _, object := range read(t, filepath.Join(folder, "in.yaml"), someUID) {
			object.SetNamespace(stages[i].namespace)
			stages[i].create(t, object)
		}
	}
	if *before != "" {
		th.runBefore(t, stages, folders)
		return stages
	}
	for i, s := range stages {
		s.restore(t, folders[i])
	}
	return stages
}

// read returns the objects in a file. It replaces the placeholder for the stack's UID.
func read(t *testing.T, file string, uid types.UID) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	testutil.Must(t, err)
	content = bytes.ReplaceAll(content, []byte(someUID), []byte(uid))
	copied := filepath.Join(t.TempDir(), filepath.Base(file))
	testutil.Must(t, os.WriteFile(copied, content, 0o600))
	objects, err := testutil.ReadObjects(copied)
	testutil.Must(t, err)
	return objects
}

func (s *stage) stack(t *testing.T) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	s.get(t, stackName, stack)
	return stack
}

// restore applies the objects in the same way as the older operator, and writes the status that the older operator
// wrote.
func (s *stage) restore(t *testing.T, folder string) {
	t.Helper()
	stack := s.stack(t)
	for _, object := range read(t, filepath.Join(folder, "made.yaml"), stack.UID) {
		applied := client.ApplyConfigurationFromUnstructured(object)
		testutil.Must(t, s.Apply(t.Context(), applied, client.FieldOwner(names.FieldManager), client.ForceOwnership))
	}
	content, err := os.ReadFile(filepath.Join(folder, "status.yaml"))
	testutil.Must(t, err)
	// Decoding into the Go type removes the fields that no version contains any longer, as an API server does.
	testutil.Must(t, yaml.Unmarshal(content, &stack.Status))
	testutil.Must(t, s.Status().Update(t.Context(), stack))
}

// runBefore runs the older operator, and records the objects that it creates for the stacks.
func (th *theatre) runBefore(t *testing.T, stages []*stage, folders []string) {
	t.Helper()
	newest := th.program
	th.program = *before
	defer func() { th.program = newest }()
	th.operator.start(t)
	for i, s := range stages {
		eventually(t, "the stack of the older operator is ready", func() error { return s.ready(t) })
		s.settle(t)
		s.keep(t, folders[i])
	}
	th.operator.kill(t)
}

// keep writes the objects that the older operator applied for a stack, and the status that it wrote.
func (s *stage) keep(t *testing.T, folder string) {
	t.Helper()
	stack := s.stack(t)
	asked, err := discovery.NewDiscoveryClientForConfig(s.Plane.Config)
	testutil.Must(t, err)
	extractor, err := metav1ac.NewUnstructuredExtractor(asked)
	testutil.Must(t, err)
	var made strings.Builder
	for _, object := range s.children(t) {
		applied, err := extractor.Extract(&object, names.FieldManager)
		testutil.Must(t, err)
		// The public certificates are omitted, because every operator contains them.
		if object.GetName() == names.CABundle(stackName) {
			trusted, _ := testutil.SameCertificate(t)
			applied.Object["data"] = map[string]any{names.CABundleFile: string(trusted)}
		}
		// An operator may replace the programs that run before the server at any time.
		if object.GetName() == names.Startup(stackName) {
			applied.Object["data"] = map[string]any{names.RegistryProgram: "# of an older operator\n"}
		}
		content, err := yaml.Marshal(applied.Object)
		testutil.Must(t, err)
		fmt.Fprintf(&made, "---\n%s", strings.ReplaceAll(string(content), string(stack.UID), string(someUID)))
	}
	status, err := yaml.Marshal(stack.Status)
	testutil.Must(t, err)
	err = errors.Join(
		os.WriteFile(filepath.Join(folder, "made.yaml"), []byte(made.String()), 0o600),
		os.WriteFile(filepath.Join(folder, "status.yaml"), status, 0o600))
	testutil.Must(t, err)
}

// children returns all objects that were created for the stack.
func (s *stage) children(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	var found []unstructured.Unstructured
	for _, kind := range kinds {
		if kind.Kind == "LlamaStackDistribution" {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		testutil.Must(t, s.List(t.Context(), list, client.InNamespace(s.namespace),
			client.MatchingLabels(names.ChildSelector(stackName))))
		found = append(found, list.Items...)
	}
	return found
}

// running contains the state that an upgrade must not change.
type running struct {
	Pods []string
	// Rolled is the number of revisions of the Deployment.
	Rolled int
	// Deployment is the spec of the Deployment, and Generation is its generation.
	Deployment appsv1.DeploymentSpec
	Generation int64
	// Children are the UIDs of all children, keyed by kind and name.
	Children map[string]types.UID
}

// untouched compares the state of a stack before and after the upgrade. Two changes are allowed: The newer operator can
// record once, in an annotation on the Deployment, that it keeps a pod template although it would render a different
// one. It can also create objects that the older operator did not create.
func (was running) untouched(is running) string {
	if is.Generation == was.Generation+1 {
		is.Generation = was.Generation
	}
	maps.DeleteFunc(is.Children, func(name string, _ types.UID) bool {
		_, old := was.Children[name]
		return !old
	})
	return cmp.Diff(was, is)
}

func (s *stage) running(t *testing.T) running {
	t.Helper()
	deployment := &appsv1.Deployment{}
	s.get(t, names.Deployment(stackName), deployment)
	r := running{
		Pods: s.pods(t), Rolled: s.rolled(t), Deployment: deployment.Spec, Generation: deployment.Generation,
		Children: map[string]types.UID{},
	}
	for _, child := range s.children(t) {
		r.Children[child.GetKind()+" "+child.GetName()] = child.GetUID()
	}
	return r
}

// available returns an error until all pods of the Deployment are available.
func (s *stage) available(t *testing.T) error {
	t.Helper()
	deployment := &appsv1.Deployment{}
	s.get(t, names.Deployment(stackName), deployment)
	if want, got := *deployment.Spec.Replicas, deployment.Status.AvailableReplicas; got != want {
		return fmt.Errorf("%d pods are available, want %d", got, want)
	}
	return nil
}

// observed returns an error until the current operator has observed the stack and the stack is ready.
func (s *stage) observed(t *testing.T) error {
	t.Helper()
	if got := s.stack(t).Status.Version.OperatorVersion; got != version {
		return fmt.Errorf("the last operator that observed %s is %q", s.namespace, got)
	}
	return s.ready(t)
}
