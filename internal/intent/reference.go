package intent

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const secretShape = "{secretKeyRef: {name: <Secret>, key: <key>}}"

// secret reads a field of the form {secretKeyRef: {name, key}}; nil when it is
// not there or wrong.
func (o *object) secret(name string) *SecretRef {
	value, ok := o.take(name)
	if !ok {
		return nil
	}
	return decodeSecret(value, o.path.Child(name), o.errs)
}

// decodeSecret reads {secretKeyRef: {name, key}}. An earlier proposal of the API
// had {name, key}: the error for it says the right spelling.
func decodeSecret(value any, path *field.Path, errs *field.ErrorList) *SecretRef {
	o, ok := newObject(value, path, secretShape, errs)
	if !ok {
		return nil
	}
	if isFlat(o.fields) {
		o.fail(field.Forbidden(path, "name and key go one level deeper: write "+secretShape))
		return nil
	}
	ref, ok := o.take("secretKeyRef")
	o.close()
	if !ok {
		o.fail(field.Required(path.Child("secretKeyRef"), "required: write "+secretShape))
		return nil
	}
	inner, ok := newObject(ref, path.Child("secretKeyRef"), "{name: <Secret>, key: <key>}", errs)
	if !ok {
		return nil
	}
	before := len(*errs)
	secret := &SecretRef{
		Name: inner.requiredText("name", "the name of a Secret in the same namespace"),
		Key:  inner.requiredText("key", "a key of that Secret"),
		Path: inner.path,
	}
	inner.close()
	*errs = append(*errs, checkSecret(secret)...)
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

// typedSecret normalizes a reference that the CRD schema has typed already.
func typedSecret(ref *v1alpha2.SecretReference, path *field.Path, errs *field.ErrorList) *SecretRef {
	if ref == nil {
		return nil
	}
	path = path.Child("secretKeyRef")
	secret := &SecretRef{Name: ref.SecretKeyRef.Name, Key: ref.SecretKeyRef.Key, Path: path}
	before := len(*errs)
	if secret.Name == "" && secret.Key == "" {
		*errs = append(*errs, field.Required(path, "required: write "+secretShape))
		return nil
	}
	if secret.Name == "" {
		*errs = append(*errs, field.Required(path.Child("name"), "required: the name of a Secret in the same namespace"))
	}
	if secret.Key == "" {
		*errs = append(*errs, field.Required(path.Child("key"), "required: a key of that Secret"))
	}
	*errs = append(*errs, checkSecret(secret)...)
	if len(*errs) > before {
		return nil
	}
	return secret
}

// checkSecret refuses names that no Secret can have. Empty ones are reported as
// missing elsewhere.
func checkSecret(secret *SecretRef) field.ErrorList {
	var errs field.ErrorList
	if secret.Name != "" {
		if problems := validation.IsDNS1123Subdomain(secret.Name); len(problems) > 0 {
			errs = append(errs, field.Invalid(secret.Path.Child("name"), secret.Name,
				fmt.Sprintf(`%q cannot be the name of a Secret: lower-case letters, digits, "-" and ".", with a letter or digit at both ends`, secret.Name)))
		}
	}
	if secret.Key != "" {
		if problems := validation.IsConfigMapKey(secret.Key); len(problems) > 0 {
			errs = append(errs, field.Invalid(secret.Path.Child("key"), secret.Key,
				fmt.Sprintf(`%q cannot be a key of a Secret: letters, digits, "-", "_" and "."`, secret.Key)))
		}
	}
	return errs
}
