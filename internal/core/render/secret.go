package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// StorageSecret returns the Secret with the parts of connection strings, for servers that accept only parts. A plan
// never contains the values. The caller that applies the objects reads the values, and applies this Secret after the
// ConfigMaps.
func StorageSecret(in Input, data map[string][]byte) Object {
	name := storageSecret(in)
	apply := owned(in, corev1ac.Secret, name).
		WithType(corev1.SecretTypeOpaque).
		WithData(data)
	return Object{GVK: secretKind, Name: name, Apply: apply}
}

// InsertSecret inserts a Secret at its place in the apply order, which is after the ConfigMaps.
func InsertSecret(objects []Object, secret Object) []Object {
	at := slices.IndexFunc(objects, func(o Object) bool { return o.GVK != configMapKind })
	if at < 0 {
		at = len(objects)
	}
	return slices.Insert(slices.Clone(objects), at, secret)
}
