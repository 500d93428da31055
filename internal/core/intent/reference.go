package intent

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const secretShape = "{secretKeyRef: {name: <Secret>, key: <key>}}"

// secret reads a field of the form {secretKeyRef: {name, key}}. It returns nil when the field is missing or invalid.
func (o *object) secret(name string) *SecretRef {
	value, ok := o.take(name)
	if !ok {
		return nil
	}
	return decodeSecret(value, o.path.Child(name), o.Errors)
}

// decodeSecret reads {secretKeyRef: {name, key}}. The error for the form {name, key}, which an earlier API proposal
// used, contains the correct form.
func decodeSecret(value any, path *field.Path, errs *Errors) *SecretRef {
	o, ok := newObject(value, path, secretShape, errs)
	if !ok {
		return nil
	}
	if isFlat(o.fields) {
		o.Forbidden(path, "name and key belong one level deeper: write %s", secretShape)
		return nil
	}
	ref, ok := o.take("secretKeyRef")
	o.close()
	if !ok {
		o.Required(path.Child("secretKeyRef"), "required: write %s", secretShape)
		return nil
	}
	return decodeSecretKey(ref, path.Child("secretKeyRef"), errs)
}

// decodeSecretKey reads {name, key}.
func decodeSecretKey(value any, path *field.Path, errs *Errors) *SecretRef {
	o, ok := newObject(value, path, "{name: <Secret>, key: <key>}", errs)
	if !ok {
		return nil
	}
	before := len(*errs)
	secret := &SecretRef{
		Name: o.requiredText("name", "set the name of a Secret in the same namespace"),
		Key:  o.requiredText("key", "set a key of that Secret"),
		Path: path,
	}
	o.close()
	checkSecret(secret, errs)
	if len(*errs) > before {
		return nil
	}
	return secret
}

func isFlat(fields map[string]any) bool {
	_, name := fields["name"]
	_, key := fields["key"]
	_, deep := fields["secretKeyRef"]
	return !deep && (name || key)
}

// Secret normalizes a reference whose types the CRD schema has already checked.
func Secret(ref *v1alpha2.SecretReference, path *field.Path, errs *Errors) *SecretRef {
	if ref == nil {
		return nil
	}
	path = path.Child("secretKeyRef")
	if ref.SecretKeyRef == (v1alpha2.SecretKeyRef{}) {
		errs.Required(path, "required: write %s", secretShape)
		return nil
	}
	return decodeSecretKey(map[string]any{"name": ref.SecretKeyRef.Name, "key": ref.SecretKeyRef.Key}, path, errs)
}

// checkSecret rejects names and keys that no Secret can have. Its callers report an empty name or key as missing.
func checkSecret(secret *SecretRef, errs *Errors) {
	if secret.Name != "" && len(validation.IsDNS1123Subdomain(secret.Name)) > 0 {
		errs.InvalidText(secret.Path.Child("name"), secret.Name,
			`is not a valid Secret name: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."`)
	}
	if secret.Key != "" && len(validation.IsConfigMapKey(secret.Key)) > 0 {
		errs.InvalidText(secret.Path.Child("key"), secret.Key, `is not a valid key of a Secret: use at most 253 letters, digits, "-", "_" and "."`)
	}
}
