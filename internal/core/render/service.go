package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// service returns the Service of the stack inside the cluster. It refers to the port of the pods by name, so that
// during a change of the port clients reach the old pods as long as they serve. In a v1alpha1 stack, it refers to the
// number of the port of these pods, because pods of the operator for v1alpha1 have no name for the port. A v1alpha1
// stack has a Service only if its spec sets a port or variables.
func service(in Input) (*corev1ac.ServiceApplyConfiguration, error) {
	spec := &in.Stack.Spec
	if of(in).ServiceIfAsked && (spec.Networking == nil || spec.Networking.Port == 0) &&
		len(intent.Overrides(spec).Env) == 0 {
		return nil, nil
	}
	port, target := Port(spec), intstr.FromString(names.PortName)
	if of(in).ServiceIfAsked {
		target = intstr.FromInt32(runningPort(in))
	}
	_, annotations := backendTLS(in)
	return owned(in, corev1ac.Service, names.Service(in.Stack.Name)).
		WithAnnotations(annotations).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(names.Selector(in.Stack.Name)).
			WithPorts(corev1ac.ServicePort().
				WithName(names.PortName).
				WithProtocol(corev1.ProtocolTCP).
				WithPort(port).
				WithTargetPort(target))), nil
}
