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
	// hostHash is the number of hex digits at the end of a truncated label that an earlier operator generated.
	hostHash = 6
	// ownHostHash is the number of hex digits at the end of every label that this operator generates.
	ownHostHash = 10
)

// HostLabel returns the first label of a stack's generated host name: <stack>-<namespace>-<hash>. If the label would be
// too long, HostLabel truncates the part before the hash. The hash covers the two names with a separator that neither
// contains, so that stack a-b in namespace c and stack a in namespace b-c have different labels.
func HostLabel(stack, namespace string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + stack))
	label := stack + "-" + namespace
	if most := validation.DNS1123LabelMaxLength - ownHostHash - 1; len(label) > most {
		label = strings.TrimRight(label[:most], "-")
	}
	return label + "-" + hex.EncodeToString(sum[:])[:ownHostHash]
}

// truncatedHost is the length of the part before the hash from which on IsHostLabel assumes that it was truncated. It
// allows for hyphens that HostLabel trims.
const truncatedHost = validation.DNS1123LabelMaxLength - ownHostHash - 1 - 4

// IsHostLabel reports whether HostLabel returns the label for some stack. If the label may have been truncated, the
// stack cannot be known, and IsHostLabel checks only the form.
func IsHostLabel(label string) bool {
	cut := len(label) - ownHostHash - 1
	if cut < 0 || label[cut] != '-' || strings.Trim(label[cut+1:], "0123456789abcdef") != "" {
		return false
	}
	joined := label[:cut]
	for i := range joined {
		if joined[i] == '-' && HostLabel(joined[:i], joined[i+1:]) == label {
			return true
		}
	}
	return len(joined) >= truncatedHost
}

// EarlierHostLabel returns the label that earlier operators generated. Exposed stacks that have such a label keep it.
// Two stacks can have the same such label, so the operator gives it to no other stack.
func EarlierHostLabel(stack, namespace string) string {
	label := stack + "-" + namespace
	if len(label) <= validation.DNS1123LabelMaxLength {
		return label
	}
	sum := sha256.Sum256([]byte(label))
	cut := strings.TrimRight(label[:validation.DNS1123LabelMaxLength-hostHash-1], "-")
	return cut + "-" + hex.EncodeToString(sum[:])[:hostHash]
}
