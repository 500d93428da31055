package v1alpha2

// SecretReference refers to a value in a Secret. The value is never part of a configuration. The server reads it from
// an environment variable.
//
// A validation rule, and not the schema, makes secretKeyRef required, because only a rule's message can show the
// correct form to a user who wrote {name, key} one level too high.
//
// +kubebuilder:validation:XValidation:rule=`has(self.secretKeyRef)`,message=`required: write {secretKeyRef: {name: <Secret>, key: <key>}}`,fieldPath=`.secretKeyRef`,reason=FieldValueRequired
type SecretReference struct {
	// secretKeyRef names the Secret and its key. Required.
	// +optional
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// SecretKeyRef is one key of a Secret in the object's own namespace.
type SecretKeyRef struct {
	// name is the name of the Secret. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid Secret name: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +required
	Name string `json:"name"`

	// key is the key in the Secret's data. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a Secret: use at most 253 letters, digits, "-", "_" and "."'`
	// +required
	Key string `json:"key"`
}
