package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// hostHash is how many hex digits end a label that had to be cut.
const hostHash = 6

// HostLabel is the first label of a stack's made-up host name:
// <stack>-<namespace>, cut to what a label may have and told apart by a hash.
func HostLabel(stack, namespace string) string {
	label := stack + "-" + namespace
	if len(label) <= validation.DNS1123LabelMaxLength {
		return label
	}
	sum := sha256.Sum256([]byte(label))
	cut := strings.TrimRight(label[:validation.DNS1123LabelMaxLength-hostHash-1], "-")
	return cut + "-" + hex.EncodeToString(sum[:])[:hostHash]
}
