package podspec

import (
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// check collects the errors of one part of a pod.
type check struct{ intent.Errors }

func (c *check) list() field.ErrorList { return field.ErrorList(c.Errors) }

// name checks a required name by one of the functions of package validation.
func (c *check) name(path *field.Path, name string, valid func(string) []string) {
	if name == "" {
		c.Required(path, "required: set a name")
		return
	}
	c.text(path, name, valid)
}

// text checks a value, if it is set, by one of the functions of package validation.
func (c *check) text(path *field.Path, value string, valid func(string) []string) {
	if value == "" {
		return
	}
	if problems := valid(value); len(problems) > 0 {
		c.InvalidText(path, value, "is not valid: %s", problems[0])
	}
}

// subdomain checks the name of an object.
func subdomain(name string) []string { return apivalidation.NameIsDNSSubdomain(name, false) }

// notNegative checks a number, if it is set.
func notNegative[T int32 | int64](c *check, path *field.Path, value *T) {
	if value != nil && *value < 0 {
		c.Invalid(path, *value, "%d is too small: use 0 or more", *value)
	}
}

// mode checks the permissions of files.
func (c *check) mode(path *field.Path, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		c.Invalid(path, *mode, "%d is not a mode of a file: write an octal number from 0000 to 0777, in JSON a number from 0 to 511", *mode)
	}
}

// relative checks a path in a volume.
func (c *check) relative(path *field.Path, text string) {
	if strings.HasPrefix(text, "/") || slices.Contains(strings.Split(text, "/"), "..") {
		c.InvalidText(path, text, `is not a path in the volume: write a relative path without ".."`)
	}
}

// one checks that a set of alternatives contains exactly one.
func (c *check) one(path *field.Path, count int, alternatives string) {
	switch {
	case count == 0:
		c.Required(path, "required: set one of %s", alternatives)
	case count > 1:
		c.Forbidden(path, "%d alternatives are set: keep one of %s", count, alternatives)
	}
}

// selector checks a selector of labels.
func (c *check) selector(path *field.Path, selector *metav1.LabelSelector) {
	if selector == nil {
		return
	}
	c.labels(path.Child("matchLabels"), selector.MatchLabels)
	for i, r := range selector.MatchExpressions {
		path := path.Child("matchExpressions").Index(i)
		c.name(path.Child("key"), r.Key, validation.IsQualifiedName)
		for j, value := range r.Values {
			c.text(path.Child("values").Index(j), value, validation.IsValidLabelValue)
		}
		switch operator, values := path.Child("operator"), path.Child("values"); r.Operator {
		case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
			if len(r.Values) == 0 {
				c.Required(values, "required: the operator %s needs a value", r.Operator)
			}
		case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
			if len(r.Values) > 0 {
				c.Forbidden(values, "the operator %s has no values: remove them", r.Operator)
			}
		default:
			c.InvalidText(operator, string(r.Operator), "is not an operator: use In, NotIn, Exists or DoesNotExist")
		}
	}
}

func (c *check) labels(path *field.Path, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		c.name(path.Key(key), key, validation.IsQualifiedName)
		c.text(path.Key(key), labels[key], validation.IsValidLabelValue)
	}
}

// duplicate reports a value that must be unique.
func (c *check) duplicate(path *field.Path, value any) {
	c.Invalid(path, value, "%v is set twice: remove one of the two entries", value)
}

// port checks a port, which is a number or the name of a port of the container.
func (c *check) port(path *field.Path, port intstr.IntOrString) {
	if port.Type == intstr.String {
		c.name(path, port.StrVal, validation.IsValidPortName)
		return
	}
	c.portNumber(path, port.IntVal)
}

func (c *check) portNumber(path *field.Path, port int32) {
	if port < 1 || port > 65535 {
		c.Invalid(path, port, "%d is not a port: use a number from 1 to 65535", port)
	}
}
