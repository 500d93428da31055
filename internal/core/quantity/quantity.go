package quantity

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// MaxLength is the maximum number of characters of a quantity.
	MaxLength = 32
	// Form is a regular expression that matches the quantities with an exponent of at most three digits.
	Form = `^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]{1,3})?$`
	// maxExponent is the maximum number of digits of an exponent.
	maxExponent = 3
)

// ErrCostly means that a quantity is too long to be parsed, or has too large an exponent.
var ErrCostly = errors.New("must be a quantity of at most 32 characters, with an exponent of at most 3 digits: " +
	"write a quantity such as 10Gi, 500m or 2")

// Check returns ErrCostly for a text that a program must not parse as a quantity. It accepts short texts that are not
// quantities, because a parser rejects them immediately.
func Check(text string) error {
	text = strings.TrimSpace(text)
	exponent := text[strings.LastIndexAny(text, "eE")+1:]
	hasExponent := len(exponent) < len(text)
	if len(text) > MaxLength || hasExponent && len(strings.TrimLeft(exponent, "+-")) > maxExponent {
		return ErrCostly
	}
	return nil
}

// Parse parses a quantity. It takes little time for any text.
func Parse(text string) (resource.Quantity, error) {
	if err := Check(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}
