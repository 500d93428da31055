package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// StorageSecret is the Secret with the parts of connection strings, for servers that read parts only. Its values are
// never in a plan: whoever applies has read them, and applies this after the ConfigMaps.
func StorageSecret(in Input, data map[string][]byte) Object {
	name := storageSecret(in)
	apply := owned(in, corev1ac.Secret, name).
		WithType(corev1.SecretTypeOpaque).
		WithData(data)
	return Object{GVK: secretKind, Name: name, Apply: apply}
}

// InsertSecret puts a Secret behind the ConfigMaps, its place in the order of apply.
func InsertSecret(objects []Object, secret Object) []Object {
	at := slices.IndexFunc(objects, func(o Object) bool { return o.GVK != configMapKind })
	if at < 0 {
		at = len(objects)
	}
	return slices.Insert(slices.Clone(objects), at, secret)
}
