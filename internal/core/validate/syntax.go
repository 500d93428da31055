package validate

import (
	"fmt"
	"iter"
	"math"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// These patterns are the same as in the rules of the CRD. A test compares them.
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
func (c *checks) objectName(path *field.Path, kind, name string) {
	switch {
	case name == "":
		c.Required(path, "required: set the name of %s in the same namespace", article(kind))
	case len(name) > maxName || !subdomainForm.MatchString(name):
		c.InvalidText(path, name,
			`is not a valid name for %s: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."`, article(kind))
	}
}

func article(kind string) string {
	if kind == "IngressClass" {
		return "an " + kind
	}
	return "a " + kind
}

// dataKey checks a key in the data of a ConfigMap.
func (c *checks) dataKey(path *field.Path, key string) {
	switch {
	case key == "":
		c.Required(path, "required: write a key of the ConfigMap, or remove this entry")
	case len(key) > maxName || !dataKeyForm.MatchString(key):
		c.InvalidText(path, key, `is not a valid key of a ConfigMap: use at most 253 letters, digits, "-", "_" and "."`)
	}
}

// configMapKey checks a reference to a ConfigMap whose key has a default.
func (c *checks) configMapKey(path *field.Path, name, key string) {
	c.objectName(path.Child("configMapName"), "ConfigMap", name)
	if key != "" {
		c.dataKey(path.Child("key"), key)
	}
}

// Image checks an image reference by the same rule as the CRD.
func Image(path *field.Path, reference string) field.ErrorList {
	if len(reference) <= maxImage && imageForm.MatchString(reference) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, reference, fmt.Sprintf(
		`%q is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case`, reference))}
}

// duplicate adds an error for an item that also occurs earlier in the same list.
func (c *checks) duplicate(path *field.Path, value string) {
	err := field.Duplicate(path, value)
	err.Detail = fmt.Sprintf("%q is listed twice: remove one of the two entries", value)
	c.Add(err)
}

// tooLong adds an error for a path that is longer than its limit.
func (c *checks) tooLong(path *field.Path, text string, limit int) {
	c.InvalidText(path, text, "is longer than %d bytes: use a shorter path", limit)
}

// between checks the range of a number, if the number is set.
func (c *checks) between(path *field.Path, value *int32, low, high int32) {
	switch {
	case value == nil || (*value >= low && *value <= high):
	case high == math.MaxInt32:
		c.Invalid(path, *value, "%d is too small: use %d or more", *value, low)
	default:
		c.Invalid(path, *value, "%d is out of range: use a value from %d to %d", *value, low, high)
	}
}

// atMost checks the length of a list or map, and reports whether it is within the limit.
func (c *checks) atMost(path *field.Path, count, limit int) bool {
	if count > limit {
		c.Forbidden(path, "%d entries exceed the limit of %d: remove some", count, limit)
	}
	return count <= limit
}

// notEmpty checks that a list or map, if it is set, is not empty.
func (c *checks) notEmpty(path *field.Path, given bool, count int) {
	if given && count == 0 {
		c.Empty(path)
	}
}

// repeated iterates over the items that also occur earlier in a list, with their positions.
func repeated[T comparable](items []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		seen := make(map[T]bool, len(items))
		for i, item := range items {
			if seen[item] && !yield(i, item) {
				return
			}
			seen[item] = true
		}
	}
}

// orZero returns the pointer or, if it is nil, a pointer to the zero value.
func orZero[T any](value *T) *T {
	if value == nil {
		return new(T)
	}
	return value
}
