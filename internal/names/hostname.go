package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultDomain is where made-up host names are without a domain of the
// administrator's (FR-064). No public DNS knows it.
const DefaultDomain = "llama-stack.internal"

const (
	// hostHash is how many hex digits end an earlier label that had to be cut.
	hostHash = 6
	// ownHostHash is how many hex digits end every label.
	ownHostHash = 10
)

// HostLabel is the first label of a stack's made-up host name:
// <stack>-<namespace>-<hash>, cut to what a label may have. The hash is over the two
// names with a separator that neither has, so that stack a-b in c and stack a in b-c
// have different labels.
func HostLabel(stack, namespace string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + stack))
	label := stack + "-" + namespace
	if most := validation.DNS1123LabelMaxLength - ownHostHash - 1; len(label) > most {
		label = strings.TrimRight(label[:most], "-")
	}
	return label + "-" + hex.EncodeToString(sum[:])[:ownHostHash]
}

// EarlierHostLabel is that label as operators before this one made it up. Exposures
// that have it, and stacks of v1alpha1, keep it.
func EarlierHostLabel(stack, namespace string) string {
	label := stack + "-" + namespace
	if len(label) <= validation.DNS1123LabelMaxLength {
		return label
	}
	sum := sha256.Sum256([]byte(label))
	cut := strings.TrimRight(label[:validation.DNS1123LabelMaxLength-hostHash-1], "-")
	return cut + "-" + hex.EncodeToString(sum[:])[:hostHash]
}
