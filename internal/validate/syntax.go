package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// The forms below are those of the CRD's rules: a test holds them equal.
var (
	subdomainForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	dataKeyForm   = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
	idForm        = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
	imageForm     = regexp.MustCompile(`^(([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?` +
		`[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*` +
		`(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9+._-]+:[0-9a-fA-F]{32,128})?$`)
)

const (
	maxName  = 253
	maxImage = 512
	maxID    = 63
)

// objectName checks the name of an object that the spec refers to.
func objectName(path *field.Path, kind, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "required: the name of "+article(kind)+" in the same namespace")}
	}
	if len(name) <= maxName && subdomainForm.MatchString(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
		`%q cannot be the name of %s: lower-case letters, digits, "-" and ".", with a letter or digit at both ends`, name, article(kind)))}
}

func article(kind string) string {
	if kind == "IngressClass" {
		return "an " + kind
	}
	return "a " + kind
}

// dataKey checks a key in the data of a Secret or ConfigMap.
func dataKey(path *field.Path, kind, key string) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "required: a key of that "+kind)}
	}
	if len(key) <= maxName && dataKeyForm.MatchString(key) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, key, fmt.Sprintf(
		`%q cannot be a key of a %s: letters, digits, "-", "_" and "."`, key, kind))}
}

// configMapKey checks a reference to a ConfigMap whose key has a default.
func configMapKey(path *field.Path, name, key string) field.ErrorList {
	errs := objectName(path.Child("configMapName"), "ConfigMap", name)
	if key != "" {
		errs = append(errs, dataKey(path.Child("key"), "ConfigMap", key)...)
	}
	return errs
}

func secretReference(path *field.Path, ref v1alpha2.SecretReference) field.ErrorList {
	path = path.Child("secretKeyRef")
	if ref.SecretKeyRef == (v1alpha2.SecretKeyRef{}) {
		return field.ErrorList{field.Required(path, "required: write {secretKeyRef: {name: <Secret>, key: <key>}}")}
	}
	return append(objectName(path.Child("name"), "Secret", ref.SecretKeyRef.Name),
		dataKey(path.Child("key"), "Secret", ref.SecretKeyRef.Key)...)
}

// Image checks an image reference by the rule of the CRD.
func Image(path *field.Path, reference string) field.ErrorList {
	if len(reference) <= maxImage && imageForm.MatchString(reference) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, reference, fmt.Sprintf(
		`%q is not an image reference: write [registry/]repository[:tag][@digest], the repository in lower case`, reference))}
}

// duplicate is an item of a list that an earlier one is already.
func duplicate(path *field.Path, value string) *field.Error {
	err := field.Duplicate(path, value)
	err.Detail = fmt.Sprintf("%q is there twice: remove one of them", value)
	return err
}

// between checks a number where given.
func between(path *field.Path, value *int32, low, high int32) field.ErrorList {
	switch {
	case value == nil || (*value >= low && *value <= high):
		return nil
	case high == maxInt32:
		return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("%d is too small: take %d or more", *value, low))}
	default:
		return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("%d is out of range: take %d to %d", *value, low, high))}
	}
}

const maxInt32 = 1<<31 - 1

// oneOf checks a word where given.
func oneOf[T ~string](path *field.Path, value T, known ...T) field.ErrorList {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("%q is not known: take one of %s", value, strings.Join(words, ", ")))}
}

// atMost checks the length of a list or map.
func atMost(path *field.Path, count, limit int) field.ErrorList {
	if count <= limit {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("%d entries are more than the %d that may be given: remove some", count, limit))}
}

// repeated returns the places of the items that stand earlier in a list too.
func repeated[T comparable](items []T) map[int]bool {
	seen, places := make(map[T]bool, len(items)), map[int]bool{}
	for i, item := range items {
		if seen[item] {
			places[i] = true
		}
		seen[item] = true
	}
	return places
}
