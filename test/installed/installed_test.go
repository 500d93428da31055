package installed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// elsewhere is a namespace that an operator does not watch if it is limited to other namespaces.
const elsewhere = "elsewhere"

// form describes a way to install the operator.
type form struct {
	name string
	// manifest is a folder of config to apply. If it is empty, the test installs the chart, and sets values in an upgrade.
	manifest string
	values   []string
	// namespace is the namespace of the stack.
	namespace string
	// operator is the namespace of the operator, if the user chooses it.
	operator  string
	openShift bool
	// rolesOnly means that the operator has permissions only in this namespace and in its own namespace.
	rolesOnly bool
}

var forms = []form{
	{name: "install", manifest: "default", namespace: "anywhere"},
	{name: "openshift", manifest: "overlays/openshift", namespace: "project", openShift: true},
	{name: "namespaced", manifest: "overlays/namespaced", namespace: "llama-stack", rolesOnly: true},
	{
		name: "chart", values: []string{"watchNamespaces={team}", "networkPolicy.enabled=true"}, namespace: "team",
		rolesOnly: true,
	},
	{name: "olm", manifest: "default", namespace: "anybody", operator: "operators"},
}

// releaseFolder is the folder of a release, from which the tests install in place of this work tree, or "".
var releaseFolder = os.Getenv("RELEASE_FOLDER")

// file returns the path of the manifest.
func (f *form) file(t *testing.T) string {
	t.Helper()
	switch {
	case releaseFolder == "":
		return testutil.ManifestFile(t, f.manifest)
	case f.manifest == "default":
		return filepath.Join(releaseFolder, "install.yaml")
	default:
		return filepath.Join(releaseFolder, "install-"+filepath.Base(f.manifest)+".yaml")
	}
}

func TestInstalled(t *testing.T) {
	c := startCluster(t)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) { c.tryForm(t, f) })
	}
}

func (c *cluster) tryForm(t *testing.T, f form) {
	t.Helper()
	c.makeNamespace(t, f.namespace)
	if f.openShift {
		definitions := openShiftDefinitions(t)
		c.kubectl(t, append([]string{"apply"}, definitions...)...)
		c.WaitEstablished(t, definitions...)
		defer c.kubectl(t, append([]string{"delete"}, definitions...)...)
	}
	var manifest string
	if f.manifest == "" {
		c.installChart(t, f.values)
	} else {
		manifest = f.file(t)
		if f.operator != "" {
			manifest = c.byOLM(t, manifest, f.operator)
		}
		c.kubectl(t, "apply", "--server-side", "--filename="+manifest)
	}
	c.WaitEstablished(t, "crd/"+names.CustomResourceDefinition)
	c.expectAdmitted(t, f)

	before := c.mark(t)
	operator := c.start(t, c.deployment(t, f.operators()))
	if f.rolesOnly {
		c.makeNamespace(t, elsewhere)
		c.applyStack(t, elsewhere) // created first, so that a faulty operator would have time to change this stack
	}
	c.applyStack(t, f.namespace)
	c.kubectl(t, "wait", "--for=condition=DeploymentUpdated", "--timeout=60s", "--namespace="+f.namespace, "llsd/stack")
	c.expectChildren(t, f)
	if f.rolesOnly {
		c.expectUntouched(t)
	}
	c.expectLessWhenAskedFor(t, f)
	operator.stop(t)
	if text := operator.log.String(); strings.Contains(text, "forbidden") {
		t.Errorf("requests of the operator were rejected:\n%s", text)
	}
	calls := c.calls(t, operator.user, before)
	expectNothingRefused(t, calls)
	if f.rolesOnly {
		expectOnlyIn(t, calls, f.namespace, operator.namespace)
	}
	if f.manifest == "" {
		c.uninstallChart(t, f.namespace)
	} else {
		// The manifest begins with the namespace, so the API server deletes the other objects at the same time.
		c.kubectl(t, "delete", "--ignore-not-found", "--timeout=60s", "--filename="+manifest)
		c.expectGone(t, manifest)
	}
}

// operators returns the namespace of the operator.
func (f form) operators() string { return cmp.Or(f.operator, names.OperatorNamespace) }

// byOLM returns a file with the objects that OLM makes from the bundle for a manifest. It also makes their namespace.
func (c *cluster) byOLM(t *testing.T, manifest, namespace string) string {
	t.Helper()
	c.makeNamespace(t, namespace)
	c.kubectl(t, "label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	plain, err := os.ReadFile(manifest)
	testutil.Must(t, err)
	var text bytes.Buffer
	for _, object := range testutil.OLMObjects(t, plain, namespace) {
		content, err := object.MarshalJSON()
		testutil.Must(t, err)
		fmt.Fprintf(&text, "---\n%s\n", content)
	}
	manifest = filepath.Join(t.TempDir(), "olm.yaml")
	testutil.Must(t, os.WriteFile(manifest, text.Bytes(), 0o600))
	return manifest
}

// expectAdmitted waits for the operator's pod. The namespace's Pod Security level must admit the pod.
func (c *cluster) expectAdmitted(t *testing.T, f form) {
	t.Helper()
	var namespace corev1.Namespace
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Name: f.operators()}, &namespace))
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		t.Errorf("the operator's namespace enforces %q", level)
	}
	eventually(t, func() error {
		var pods corev1.PodList
		if err := c.List(t.Context(), &pods, client.InNamespace(f.operators())); err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return errors.New("there is no pod of the operator")
		}
		return nil
	})
}

func (c *cluster) applyStack(t *testing.T, namespace string) {
	t.Helper()
	c.kubectl(t, "apply", "--namespace="+namespace, "--filename=test/installed/testdata/stack.yaml")
}

// children returns the kinds of the objects that the operator creates for the stack, except those whose names contain a
// hash, keyed by object name.
func children(f form) map[string]schema.GroupVersionKind {
	found := map[string]schema.GroupVersionKind{
		"stack":                {Group: "apps", Version: "v1", Kind: "Deployment"},
		"stack-service":        {Version: "v1", Kind: "Service"},
		"stack-sa":             {Version: "v1", Kind: "ServiceAccount"},
		"stack-pvc":            {Version: "v1", Kind: "PersistentVolumeClaim"},
		"stack-network-policy": {Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
		"stack-pdb":            {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
		"stack-hpa":            {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
		"stack-ingress":        {Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	}
	if f.openShift {
		delete(found, "stack-ingress")
		found["stack-route"] = schema.GroupVersionKind{Group: "route.openshift.io", Version: "v1", Kind: "Route"}
	}
	return found
}

func (c *cluster) has(t *testing.T, namespace, name string, kind schema.GroupVersionKind) error {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
	}
	return nil
}

func (c *cluster) expectChildren(t *testing.T, f form) {
	t.Helper()
	for name, kind := range children(f) {
		eventually(t, func() error { return c.has(t, f.namespace, name, kind) })
	}
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}} {
		err := c.List(t.Context(), list, client.InNamespace(f.namespace), client.MatchingLabels{names.LabelInstance: "stack"})
		if err != nil || meta.LenList(list) == 0 {
			t.Errorf("the stack has no objects in %T (error %v)", list, err)
		}
	}
	eventually(t, func() error { // the operator's own
		return c.has(t, f.operators(), names.OperatorConfigMap, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	})
	pod := &unstructured.Unstructured{}
	pod.SetGroupVersionKind(children(f)["stack"])
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "stack"}, pod))
	if _, chosen, _ := unstructured.NestedInt64(pod.Object, "spec", "template", "spec", "securityContext",
		"runAsUser"); chosen == f.openShift {
		t.Errorf("the stack's pods set a user: %t, want %t", chosen, !f.openShift)
	}
}

// expectUntouched checks that the operator did not change the stack in the namespace that it does not watch. That stack
// was created first, so a faulty operator would have had time to change it.
func (c *cluster) expectUntouched(t *testing.T) {
	t.Helper()
	for name, kind := range children(form{}) {
		if err := c.has(t, elsewhere, name, kind); !apierrors.IsNotFound(errors.Unwrap(err)) {
			t.Errorf("%s %s in a namespace that is not watched: %v", kind.Kind, name, err)
		}
	}
	stack := &unstructured.Unstructured{}
	stack.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "llamastack.io", Version: "v1alpha2",
		Kind: "LlamaStackDistribution",
	})
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Namespace: elsewhere, Name: "stack"}, stack))
	if status, found := stack.Object["status"]; found {
		t.Errorf("a stack in a namespace that is not watched has a status: %v", status)
	}
}

// expectLessWhenAskedFor removes fields from the spec and checks that the operator removes the corresponding objects.
// Removing objects requires different permissions than creating them.
func (c *cluster) expectLessWhenAskedFor(t *testing.T, f form) {
	t.Helper()
	c.kubectl(t, "patch", "--namespace="+f.namespace, "llsd/stack", "--type=merge",
		`--patch={"spec":{"networking":null,"storage":null,"workload":{"autoscaling":null,"podDisruptionBudget":null}}}`)
	kinds := children(f)
	for _, name := range []string{"stack-network-policy", "stack-pdb", "stack-hpa", "stack-ingress", "stack-route"} {
		kind, expected := kinds[name]
		if !expected {
			continue
		}
		eventually(t, func() error {
			if err := c.has(t, f.namespace, name, kind); !apierrors.IsNotFound(errors.Unwrap(err)) {
				return fmt.Errorf("%s %s still exists (%v)", kind.Kind, name, err) //nolint:errorlint // it may be nil
			}
			return nil
		})
	}
}

// expectGone checks that no object of a manifest exists after the manifest was deleted.
func (c *cluster) expectGone(t *testing.T, path string) {
	t.Helper()
	objects, err := testutil.ReadObjects(path)
	testutil.Must(t, err)
	for _, object := range objects {
		eventually(t, func() error {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				return nil
			}
			return fmt.Errorf("%s %s still exists (%v)", object.GetKind(), object.GetName(), err) //nolint:errorlint // it may be nil
		})
	}
}
