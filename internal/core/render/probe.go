package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const (
	// probeTimeout is the time limit for one response, in seconds.
	probeTimeout = 10
	// startupSeconds is the time that a server may take to start. A starting server loads models and connects to its
	// providers.
	startupSeconds = 600
	// startupPeriod is the time between two probes of a starting server, in seconds. Clients wait for a started server
	// for up to this time. compatStartupPeriod is the period in v1alpha1 stacks, whose pods must not change.
	startupPeriod       = 2
	compatStartupPeriod = 10
	// readinessPeriod and readinessFailures allow a busy server five minutes. Its event loop does not respond while it
	// ingests documents, and an unready server would lose the request that keeps it busy.
	readinessPeriod   = release.ReadinessPeriod
	readinessFailures = 30
	// livenessPeriod and livenessFailures restart a server that accepts no connection for five minutes. The probe only
	// opens a connection and does not request a path, because restarts after slow responses have caused more harm than
	// servers that hang.
	livenessPeriod   = 20
	livenessFailures = 15
)

func startupProbe(in Input) *corev1ac.ProbeApplyConfiguration {
	period := int32(startupPeriod)
	if of(in).SlowStartup {
		period = compatStartupPeriod
	}
	return health(in).WithPeriodSeconds(period).WithFailureThreshold(startupSeconds / period)
}

func livenessProbe(port int32) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(port))).
		WithTimeoutSeconds(probeTimeout).
		WithPeriodSeconds(livenessPeriod).
		WithFailureThreshold(livenessFailures)
}

// health returns a probe that uses HTTPS if the server serves it (server fact 30). The kubelet does not verify the
// certificate.
func health(in Input) *corev1ac.ProbeApplyConfiguration {
	scheme := corev1.URISchemeHTTP
	if in.Server.ServesTLS {
		scheme = corev1.URISchemeHTTPS
	}
	return corev1ac.Probe().
		WithHTTPGet(corev1ac.HTTPGetAction().
			WithScheme(scheme).WithPath(release.HealthPath).WithPort(intstr.FromInt32(Port(&in.Stack.Spec)))).
		WithTimeoutSeconds(probeTimeout)
}
