package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Inputs is everything that a user or an outside fact gives to the pod template. A change of it is a change the pods
// are to follow. What the operator adds of its own (probes, security) is not here: a newer operator must not restart
// pods. Neither are replicas, expose or allowedFrom, which no pod sees.
//
// Fields are added at the end and left out when empty: a new one must not change the digest of a stack that does not
// use it.
type Inputs struct {
	// Image is the server's image.
	Image string `json:"image"`
	// Release is the server's release line.
	Release string `json:"release,omitempty"`
	// Port, Workers and MountPath are in effect: written or defaulted makes no difference.
	Port      int32  `json:"port"`
	Workers   int32  `json:"workers"`
	MountPath string `json:"mountPath"`
	// Claim says that the data is on a claim.
	Claim bool `json:"claim,omitempty"`
	// Resources as the spec has them.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Overrides as the spec has them.
	Overrides *v1alpha2.WorkloadOverrides `json:"overrides,omitempty"`
	// ConfigMap and ConfigKey are the mounted configuration, ConfigHash is its content's.
	ConfigMap  string `json:"configMap,omitempty"`
	ConfigKey  string `json:"configKey,omitempty"`
	ConfigHash string `json:"configHash,omitempty"`
	// Variables are those that the configuration reads: NAME=value, or NAME@secret/key.
	Variables []string `json:"variables,omitempty"`
	// Compat is the mark of an object that was born as an older version.
	Compat string `json:"compat,omitempty"`
	// Container is the name of the server's container, where it is not the usual one.
	Container string `json:"container,omitempty"`
	// TLSSecret is the Secret with the server's certificate.
	TLSSecret string `json:"tlsSecret,omitempty"`
	// CABundle is the digest of the certificates that the user gave to trust.
	CABundle string `json:"caBundle,omitempty"`
	// Spread as the spec has it.
	Spread []corev1.TopologySpreadConstraint `json:"spread,omitempty"`
	// External are the external providers that the pods install, in order: image, pull policy, API, id, type and module.
	External []string `json:"external,omitempty"`
	// Offline reports whether the server shall not look outside. By which variables is the release's to know: pods do not
	// change with it.
	Offline bool `json:"offline,omitempty"`
	// ModelFiles as the spec has them.
	ModelFiles *v1alpha2.ModelFilesSpec `json:"modelFiles,omitempty"`
}

// References is the state of the Secrets and ConfigMaps that the pods read.
type References struct {
	// Digest is a keyed digest over their content. Empty: there are none, or they are not known (offline).
	Digest string
	// Key names the key of Digest. Digests of different keys say nothing about each other.
	Key string
	// EarlierDigest and EarlierKey are what an operator before this one wrote for the same content, when one key was for
	// all namespaces: by them a record of its own tells whether the content changed. Never written again.
	EarlierDigest, EarlierKey string
}

// digestLength is how many hex digits a digest in an annotation has.
const digestLength = 32

// Digest is the value of the annotation on the pod template: the digest of the inputs, and behind a dot the digest of
// the references when there are any.
func Digest(inputs Inputs, references References) (string, error) {
	data, err := json.Marshal(inputs)
	if err != nil {
		return "", fmt.Errorf("digest the inputs of the pod template: %w", err)
	}
	digest := hash(data)
	if references.Digest != "" {
		digest += "." + references.Digest
	}
	return digest, nil
}

// splitDigest gives the parts back.
func splitDigest(digest string) (inputs, references string) {
	inputs, references, _ = strings.Cut(digest, ".")
	return inputs, references
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:digestLength]
}
