package v1alpha2

// SecretReference is a value that lives in a Secret. The value itself never
// enters a configuration: it reaches the server as an environment variable.
type SecretReference struct {
	// secretKeyRef names the Secret and the key in it. Required.
	// +required
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// SecretKeyRef is one key of a Secret in the object's own namespace.
type SecretKeyRef struct {
	// name is the name of the Secret. Required.
	// +required
	Name string `json:"name"`

	// key is the key in the Secret's data. Required.
	// +required
	Key string `json:"key"`
}
