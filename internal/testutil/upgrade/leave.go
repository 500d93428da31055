package upgrade

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// left contains stacks and the objects that the predecessor operator created for them, as a real API server returned
// them. In each file, $NAME is the stack's name, $NAMESPACE is the stack's namespace, and $UID is the stack's UID.
//
//go:embed testdata/*.yaml
var left embed.FS

const (
	// writer is the field manager of the program that wrote the recorded objects. applier is the field manager of the
	// user who applied the stack.
	writer  = client.FieldOwner("lls-manager")
	applier = client.FieldOwner("kubectl-client-side-apply")
)

// Shapes returns the values that Leave accepts for the parameter `shape`, sorted.
func Shapes() ([]string, error) {
	entries, err := fs.ReadDir(left, "testdata")
	if err != nil {
		return nil, fmt.Errorf("list the recorded stacks: %w", err)
	}
	shapes := make([]string, 0, len(entries))
	for _, entry := range entries {
		shapes = append(shapes, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	return shapes, nil
}

// Leave creates a v1alpha1 stack, the objects to which the stack refers, and all objects that the predecessor operator
// created for it, with the recorded field managers. It returns the names of the stack's children, keyed by kind.
func Leave(ctx context.Context, c client.Client, shape, namespace, name string) (map[string]string, error) {
	text, err := left.ReadFile("testdata/" + shape + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read a recorded stack: %w", err)
	}
	uid := ""
	children := map[string]string{}
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		object, err := fill(part, namespace, name, uid)
		if err != nil {
			return nil, err
		}
		switch {
		case object.GetKind() == v1alpha2.Kind:
			err = leaveStack(ctx, c, object)
			uid = string(object.GetUID())
		case len(object.GetOwnerReferences()) == 0:
			err = c.Create(ctx, object)
		default:
			children[object.GetKind()] = object.GetName()
			err = leaveChild(ctx, c, object)
		}
		if err != nil {
			return nil, fmt.Errorf("create %s %s/%s: %w", object.GetKind(), namespace, object.GetName(), err)
		}
	}
	return children, nil
}

// fill decodes an object from a recorded string.
func fill(text []byte, namespace, name, uid string) (*unstructured.Unstructured, error) {
	filled := strings.NewReplacer("$NAMESPACE", namespace, "$NAME", name, "$UID", uid).Replace(string(text))
	object := &unstructured.Unstructured{}
	err := yaml.NewYAMLOrJSONDecoder(strings.NewReader(filled), len(filled)).Decode(&object.Object)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("decode a recorded object: %w", err)
	}
	return object, nil
}

// leaveStack creates a stack and sets its status.
func leaveStack(ctx context.Context, c client.Client, stack *unstructured.Unstructured) error {
	status := stack.Object["status"]
	if err := c.Create(ctx, stack, applier); err != nil {
		return err
	}
	stack.Object["status"] = status
	return c.Status().Update(ctx, stack, writer)
}

// leaveChild creates a child and then sets its field managers, because an API server assigns all fields of a new object
// to its creator.
func leaveChild(ctx context.Context, c client.Client, child *unstructured.Unstructured) error {
	managers := child.GetManagedFields()
	child.SetManagedFields(nil)
	if err := c.Create(ctx, child, writer); err != nil {
		return err
	}
	child.SetManagedFields(managers)
	if err := c.Update(ctx, child, writer); err != nil {
		return err
	}
	if got, want := managersOf(child.GetManagedFields()), managersOf(managers); !slices.Equal(got, want) {
		return fmt.Errorf("the object has the field managers %q, want %q", got, want)
	}
	return nil
}

func managersOf(entries []metav1.ManagedFieldsEntry) []string {
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Manager+" by "+string(entry.Operation))
	}
	slices.Sort(found)
	return found
}
