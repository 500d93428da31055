package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// CABundle contains the certificates that the server trusts for outgoing calls.
type CABundle struct {
	// PEM is the whole bundle.
	PEM []byte
	// Hash is the digest of the certificates that come from the user and the platform. If the digest changes, the
	// Deployment replaces the pods. The root certificates in the bundle are not part of the digest, because they change
	// with the operator.
	Hash string
}

// caBundle returns the ConfigMap with the certificates that the server trusts. A server reads them when it starts.
func caBundle(in Input) (*corev1ac.ConfigMapApplyConfiguration, error) {
	if in.CABundle == nil {
		return nil, nil
	}
	if size := len(in.CABundle.PEM); size > MaxConfig {
		return nil, &TooLargeError{
			What: "CA bundle", Size: size, Limit: MaxConfig,
			Remedy: "remove certificates from the ConfigMap in spec.networking.tls.caBundle",
		}
	}
	return owned(in, corev1ac.ConfigMap, names.CABundle(in.Stack.Name)).
		WithData(map[string]string{names.CABundleFile: string(in.CABundle.PEM)}), nil
}

func caVolume(in Input) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(names.CAVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().
		WithName(names.CABundle(in.Stack.Name)).
		WithItems(corev1ac.KeyToPath().WithKey(names.CABundleFile).WithPath(names.CABundleFile)))
}

// caVariables returns variables with the path of the bundle, for OpenSSL and for libraries with their own list of
// certificates. In v1alpha1 stacks, the server has always had only the variable for OpenSSL.
func caVariables(in Input) []EnvVar {
	place := names.CADir + "/" + names.CABundleFile
	env := []EnvVar{{Name: names.EnvCABundle, Value: place}}
	if !of(in).OneCAVariable {
		env = append(env, EnvVar{Name: names.EnvRequestsCABundle, Value: place},
			EnvVar{Name: names.EnvAWSCABundle, Value: place})
	}
	return env
}
