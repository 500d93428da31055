package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultDomain is the domain of generated host names if the administrator sets none (FR-064). Public DNS never
// resolves it.
const DefaultDomain = "llama-stack.internal"

const (
	// ownHostHash is the number of hex digits at the end of every label that this operator generates.
	ownHostHash = 10
	// longHostHash is the same for a stack whose name is longer than usualName. The end of such a name can be chosen
	// freely, without an effect on the truncated part, so that a short hash could be reached by trial.
	longHostHash = 20
	// usualName is the maximum length of the name of a stack, except for v1alpha1 stacks.
	usualName = 55
	// trimmed is the number of hyphens at the end of a truncated label for which IsHostLabel allows.
	trimmed = 4
)

// HostLabel returns the first label of a stack's generated host name: <stack>-<namespace>-<hash>. If the label would be
// too long, HostLabel truncates the part before the hash. The hash covers the two names with a separator that neither
// contains, so that stack a-b in namespace c and stack a in namespace b-c have different labels.
func HostLabel(stack, namespace string) string {
	digits := ownHostHash
	if len(stack) > usualName {
		digits = longHostHash
	}
	sum := sha256.Sum256([]byte(namespace + "/" + stack))
	label := stack + "-" + namespace
	if most := readable(digits); len(label) > most {
		label = strings.TrimRight(label[:most], "-")
	}
	return label + "-" + hex.EncodeToString(sum[:])[:digits]
}

// readable returns the maximum length of a label before a hash.
func readable(digits int) int { return validation.DNS1123LabelMaxLength - digits - 1 }

// IsHostLabel reports whether HostLabel returns the label for some stack. If the label may have been truncated, the
// stack cannot be known, and IsHostLabel checks only the form.
func IsHostLabel(label string) bool {
	for _, digits := range []int{ownHostHash, longHostHash} {
		cut := len(label) - digits - 1
		if cut < 0 || label[cut] != '-' || strings.Trim(label[cut+1:], "0123456789abcdef") != "" {
			continue
		}
		if cut >= readable(digits)-trimmed {
			return true
		}
		for i := range cut {
			if label[i] == '-' && HostLabel(label[:i], label[i+1:cut]) == label {
				return true
			}
		}
	}
	return false
}
