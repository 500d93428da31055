package v1alpha2

// SecretReference is a value in a Secret. The value itself is never part of a configuration. The server reads it from
// an environment variable.
//
// secretKeyRef is required by a rule and not by the schema, because only the message of a rule can show the correct
// form to a user who wrote {name, key} one level too high.
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
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" cannot be the name of a Secret: lower-case letters, digits, "-" and ".", with a letter or digit at both ends'`
	// +required
	Name string `json:"name"`

	// key is the key in the Secret's data. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" cannot be a key of a Secret: letters, digits, "-", "_" and "."'`
	// +required
	Key string `json:"key"`
}
