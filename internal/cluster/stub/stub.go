package stub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// MaxWhole is the maximum size in memory, in bytes, of a child that a cache holds whole. Children of usual stacks have
	// at most 30 KiB with their managed fields. A stack has one child of each name, so that this bounds what a cache holds
	// for it.
	MaxWhole = 64 << 10
	// maxRead is the maximum size in memory, in bytes, of a child that Reader reads. The largest specs have children of a
	// quarter of this size. The work with a child needs many times as much memory as the child.
	maxRead = 4 << 20
	// maxOrphan is the same as MaxWhole for an object without a controller. It needs no stack, so anyone can create many
	// of them.
	maxOrphan = 8 << 10

	// digest is the annotation that marks a stub. The API server rejects a key with a space, so no stored object has it.
	// Its value changes with the labels, the annotations, the owners and the spec of a child, so that a watch notices such
	// a change in the stub. It is empty for an object that is not a child.
	digest = "digest of the whole object"
)

// Reduce is the transform function of the caches for the kinds of children. It returns the object if the object is a
// child and small, and a stub otherwise.
func Reduce(object any) (any, error) {
	child, ok := object.(client.Object)
	if !ok || Is(child) {
		return object, nil
	}
	most := MaxWhole
	if metav1.GetControllerOfNoCopy(child) == nil {
		most = maxOrphan
	}
	named := isChild(child)
	if named && !Exceeds(object, most) {
		return object, nil
	}
	reduced, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
	if !ok {
		return nil, fmt.Errorf("reduce an object: %T cannot be created", object)
	}
	reduced.GetObjectKind().SetGroupVersionKind(child.GetObjectKind().GroupVersionKind())
	Identity(reduced, child)
	if err := keepHost(reduced, child); err != nil {
		return nil, err
	}
	sum := ""
	if named {
		sum = digestOf(child)
	}
	reduced.SetAnnotations(map[string]string{digest: sum})
	return reduced, nil
}

// Is reports whether an object is a stub.
func Is(object metav1.Object) bool {
	_, marked := object.GetAnnotations()[digest]
	return marked
}

// keepHost keeps the host name of an object that exposes a stack. The operator compares host names of many stacks, and
// must not read these objects one by one.
func keepHost(to, from client.Object) error {
	switch from := from.(type) {
	case *networkingv1.Ingress:
		into, ok := to.(*networkingv1.Ingress)
		if ok && len(from.Spec.Rules) > 0 && len(from.Spec.Rules[0].Host) <= validation.DNS1123SubdomainMaxLength {
			into.Spec.Rules = []networkingv1.IngressRule{{Host: from.Spec.Rules[0].Host}}
		}
	case *unstructured.Unstructured:
		into, ok := to.(*unstructured.Unstructured)
		if host, _, _ := unstructured.NestedString(from.Object, "spec", "host"); ok && host != "" &&
			len(host) <= validation.DNS1123SubdomainMaxLength {
			return unstructured.SetNestedField(into.Object, host, "spec", "host")
		}
		hosts, _, _ := unstructured.NestedStringSlice(from.Object, "spec", "hostnames")
		if ok && len(hosts) > 0 && len(hosts[0]) <= validation.DNS1123SubdomainMaxLength {
			return unstructured.SetNestedStringSlice(into.Object, hosts[:1], "spec", "hostnames")
		}
	}
	return nil
}

// digestOf returns a digest of everything but the status of an object. It may change the object. The digest of
// an object that JSON cannot express is its version, because an error of a transform would end the whole list.
func digestOf(object client.Object) string {
	version := object.GetResourceVersion()
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	if plain, ok := object.(*unstructured.Unstructured); ok {
		delete(plain.Object, "status")
	} else if status := reflect.ValueOf(object).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
	sum := sha256.New()
	if json.NewEncoder(sum).Encode(object) != nil {
		return version
	}
	return hex.EncodeToString(sum.Sum(nil))
}
