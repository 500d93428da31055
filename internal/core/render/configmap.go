package render

import (
	"fmt"
	"unicode/utf8"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// MaxBase is the maximum size, in bytes, of a base configuration that the operator keeps.
	MaxBase = 768 << 10
	// MaxConfig is the maximum size, in bytes, of a generated configuration or a CA bundle. The API server accepts at
	// most 1 MiB of data in a ConfigMap.
	MaxConfig = 1<<20 - 16<<10
)

// TooLargeError reports content that is too large for a ConfigMap.
type TooLargeError struct {
	// What names the content that is too large: "base configuration", "generated configuration" or "CA bundle".
	What string
	// Size and Limit are in bytes.
	Size, Limit int
	// Remedy is the action that makes the content smaller.
	Remedy string
}

// Error returns a message with the sizes and the remedy.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the %s has %d bytes, but the limit is %d bytes; %s", e.What, e.Size, e.Limit, e.Remedy)
}

// configMap returns the ConfigMap with the generated configuration. It is immutable and named after its content.
// Different content results in a different object, so a pod that starts later still reads the configuration of its
// rollout.
func configMap(in Input) (*corev1ac.ConfigMapApplyConfiguration, error) {
	if in.Config == nil || in.Config.Data == nil {
		return nil, nil
	}
	if size := len(in.Config.Data); size > MaxConfig {
		return nil, &TooLargeError{
			What: "generated configuration", Size: size, Limit: MaxConfig,
			Remedy: "remove providers, resources or settings from the spec, or use a smaller base configuration",
		}
	}
	files := map[string][]byte{in.Config.Key: in.Config.Data}
	if hasBase(in) {
		files[names.BaseFile] = in.Base.Data
	}
	return immutable(in, in.Config.ConfigMapName, names.ConfigKindGenerated, files), nil
}

// hasBase reports whether the ConfigMap with the generated configuration also has its base. Pods mount only the key of
// the configuration.
func hasBase(in Input) bool {
	return in.Base != nil && in.Config != nil && in.Base.ConfigMapName == in.Config.ConfigMapName
}

// baseConfigMap returns the ConfigMap with the base of the generated configuration, if the two do not fit into one
// ConfigMap. No pod mounts it.
func baseConfigMap(in Input) (*corev1ac.ConfigMapApplyConfiguration, error) {
	if in.Base == nil {
		return nil, nil
	}
	if size := len(in.Base.Data); size > MaxBase {
		return nil, &TooLargeError{
			What: "base configuration", Size: size, Limit: MaxBase, Remedy: "remove comments or unused sections from the base configuration",
		}
	}
	if hasBase(in) {
		return nil, nil
	}
	files := map[string][]byte{names.BaseFile: in.Base.Data}
	return immutable(in, in.Base.ConfigMapName, names.ConfigKindBase, files), nil
}

func immutable(in Input, name, kind string, files map[string][]byte) *corev1ac.ConfigMapApplyConfiguration {
	result := owned(in, corev1ac.ConfigMap, name).
		WithLabels(names.ConfigLabels(in.Stack.Name, kind)).
		WithImmutable(true)
	for key, data := range files {
		if utf8.Valid(data) {
			result.WithData(map[string]string{key: string(data)})
		} else { // YAML may be UTF-16
			result.WithBinaryData(map[string][]byte{key: data})
		}
	}
	return result
}
