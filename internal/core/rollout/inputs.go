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

// Inputs holds everything in the pod template that comes from the user or from outside the operator. A change to Inputs
// that changes the template replaces the pods, unless only the operator is newer. Inputs does not contain parts that
// the operator adds (probes, security), because a newer operator must not restart pods. It does not contain replicas,
// expose or allowedFrom either, because they do not affect pods.
//
// Add new fields at the end and omit them when they are empty: a new field must not change the digest of a stack that
// does not use it.
type Inputs struct {
	// Image is the server's image.
	Image string `json:"image"`
	// Release is the server's release line.
	Release string `json:"release,omitempty"`
	// Port, Workers and MountPath are the effective values. They are the same whether the spec omits a field or sets it to
	// its default.
	Port      int32  `json:"port"`
	Workers   int32  `json:"workers"`
	MountPath string `json:"mountPath"`
	// Claim reports whether the data is on a PersistentVolumeClaim.
	Claim bool `json:"claim,omitempty"`
	// Resources holds the resources in the spec.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Overrides holds the overrides in the spec.
	Overrides *v1alpha2.WorkloadOverrides `json:"overrides,omitempty"`
	// ConfigMap and ConfigKey identify the mounted configuration. ConfigHash is the hash of the configuration.
	ConfigMap  string `json:"configMap,omitempty"`
	ConfigKey  string `json:"configKey,omitempty"`
	ConfigHash string `json:"configHash,omitempty"`
	// Variables lists the variables that the configuration reads, as NAME=value or NAME@secret/key.
	Variables []string `json:"variables,omitempty"`
	// Compat marks a stack that was created in an older API version.
	Compat string `json:"compat,omitempty"`
	// Container is the name of the server's container if it differs from the default.
	Container string `json:"container,omitempty"`
	// TLSSecret is the Secret with the server's certificate.
	TLSSecret string `json:"tlsSecret,omitempty"`
	// CABundle is the digest of the certificates that the server trusts in addition to the public authorities. They come
	// from the spec, from the platform, or from both.
	CABundle string `json:"caBundle,omitempty"`
	// Spread holds the topology spread constraints in the spec.
	Spread []corev1.TopologySpreadConstraint `json:"spread,omitempty"`
	// External lists the external providers that the pods install, in order, each with its image, pull policy, API, ID,
	// type and module.
	External []string `json:"external,omitempty"`
	// Offline reports whether the server must not connect to the internet. The variables that enforce this depend on the
	// release and are not inputs.
	Offline bool `json:"offline,omitempty"`
	// ModelFiles holds the model files in the spec.
	ModelFiles *v1alpha2.ModelFilesSpec `json:"modelFiles,omitempty"`
}

// References is the state of the Secrets and ConfigMaps that the pods read.
type References struct {
	// Digest is a keyed digest of their data. Empty means that the pods do not read any Secrets or ConfigMaps, or that
	// their data is unknown, for example when a command-line program computes the digest.
	Digest string
	// Key names the key of Digest. Digests with different keys cannot be compared.
	Key string
}

// digestLength is the number of hex digits of a digest in an annotation.
const digestLength = 32

// Digest returns the value of the annotation on the pod template: the digest of the inputs, followed by a dot and the
// digest of the references if there are any.
func Digest(inputs Inputs, references References) (string, error) {
	data, err := json.Marshal(inputs)
	if err != nil {
		return "", fmt.Errorf("compute the digest of the inputs of the pod template: %w", err)
	}
	digest := hash(data)
	if references.Digest != "" {
		digest += "." + references.Digest
	}
	return digest, nil
}

// splitDigest returns the parts of a digest.
func splitDigest(digest string) (inputs, references string) {
	inputs, references, _ = strings.Cut(digest, ".")
	return inputs, references
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:digestLength]
}
