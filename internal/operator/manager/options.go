package manager

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Options are the operator's command-line options.
type Options struct {
	// MetricsBindAddress is the address for metrics. "0" disables them.
	MetricsBindAddress string
	// MetricsSecure serves metrics over TLS to authorized clients.
	MetricsSecure bool
	// MetricsCertPath is a directory with MetricsCertName and MetricsCertKey. Empty means a self-signed certificate.
	MetricsCertPath string
	// MetricsCertName and MetricsCertKey are the file names of the certificate and its key. Empty means tls.crt and
	// tls.key.
	MetricsCertName, MetricsCertKey string
	// WebhookBindAddress is the address for the webhooks, which use TLS. Empty or "0" disables them.
	WebhookBindAddress string
	// WebhookCertPath is a directory with tls.crt and tls.key, which another program creates and renews. Empty means that
	// the operator creates a certificate and registers its certificate authority.
	WebhookCertPath string
	// HealthProbeBindAddress is the address for /healthz and /readyz.
	HealthProbeBindAddress string
	// LeaderElect makes one of several replicas the leader, which does the work.
	LeaderElect bool
	// LeaderElectionNamespace is the namespace of the lease. Empty means OperatorNamespace.
	LeaderElectionNamespace string
	// LeaseDuration is how long other replicas wait for a leader that does not respond. RenewDeadline is how long a leader
	// tries to renew its lease before it gives up. RetryPeriod is the time between two attempts to acquire or renew the
	// lease. If one of these fields is zero, it has its default: 15, 10 and 2 seconds, respectively.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// WatchNamespaces limits the operator to these namespaces. Empty means the namespaces in $WATCH_NAMESPACE or, if the
	// variable is unset or empty, all namespaces.
	WatchNamespaces []string
	// OperatorNamespace is the namespace of the operator's own Secret, ConfigMap and lease.
	OperatorNamespace string
	// QPS and Burst limit the calls to the API server. A negative QPS means no limit. By default, there is no limit,
	// because the API server itself divides its capacity fairly among clients.
	QPS   float32
	Burst int
	// DialServer connects to the addresses of the pods of stacks. Nil means the network. No flag sets it.
	DialServer probe.Dial
	// ProbeInterval is the pause between two health requests for a server's providers. Zero means the prober's default.
	// No flag sets it.
	ProbeInterval time.Duration
	// TagInterval is the pause before the operator resolves the tag of an image again, unless the operator's ConfigMap
	// sets it. Zero means an hour.
	TagInterval time.Duration
	// AutoscalerPatience is how long an autoscaler may have no metrics before the status reports a problem. Zero means the
	// controller's default. No flag sets it.
	AutoscalerPatience time.Duration
	// Concurrency is the number of stacks that are reconciled concurrently.
	Concurrency int
}

const (
	// By default, the calls to the API server have no limit, because reconciling a thousand stacks after a restart would
	// otherwise take more than a minute.
	defaultQPS         = -1
	defaultBurst       = 100
	defaultConcurrency = 4
	// These are the values that Kubernetes' own components use.
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
	// watchVariable is the environment variable with which the Operator Lifecycle Manager and related tools set the
	// namespaces to watch, separated by commas.
	watchVariable = "WATCH_NAMESPACE"
	// namespaceFile is the file in a pod that contains the pod's namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// BindFlags adds the options to the flags.
func (o *Options) BindFlags(flags *pflag.FlagSet) {
	o.bindServers(flags)
	o.bindLeaderElection(flags)
	flags.StringSliceVar(&o.WatchNamespaces, "watch-namespaces", nil,
		"comma-separated namespaces to watch (default: $"+watchVariable+", or all namespaces)")
	flags.StringVar(&o.OperatorNamespace, "operator-namespace", "",
		"namespace of the operator (default: $POD_NAMESPACE, otherwise the namespace of the operator's pod, otherwise "+
			names.OperatorNamespace+")")
	flags.Float32Var(&o.QPS, "kube-api-qps", defaultQPS, "maximum number of calls to the API server per second; a "+
		"negative value means no limit")
	flags.IntVar(&o.Burst, "kube-api-burst", defaultBurst, "maximum burst of calls to the API server, if --kube-api-qps "+
		"limits them")
	flags.IntVar(&o.Concurrency, "concurrency", defaultConcurrency, "number of stacks to reconcile at the same time")
}

// bindServers adds the options of the metrics, webhook and health servers.
func (o *Options) bindServers(flags *pflag.FlagSet) {
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", ":8443",
		`address to serve metrics on; "0" disables metrics`)
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", true,
		"serve metrics over TLS, to clients that the API server authenticates and authorizes")
	flags.StringVar(&o.MetricsCertPath, "metrics-cert-path", "",
		"folder with the certificate for metrics (default: a self-signed certificate)")
	flags.StringVar(&o.MetricsCertName, "metrics-cert-name", corev1.TLSCertKey, "file name of the certificate in the "+
		"--metrics-cert-path folder")
	flags.StringVar(&o.MetricsCertKey, "metrics-cert-key", corev1.TLSPrivateKeyKey, "file name of the certificate's key "+
		"in the --metrics-cert-path folder")
	flags.StringVar(&o.WebhookBindAddress, "webhook-bind-address", ":9443",
		`address to serve the conversion and validation webhooks on; "0" disables the webhooks`)
	flags.StringVar(&o.WebhookCertPath, "webhook-cert-path", "",
		"folder with tls.crt and tls.key for the webhooks (default: the operator creates a certificate and registers its "+
			"certificate authority)")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8081",
		"address to serve /healthz and /readyz on")
}

func (o *Options) bindLeaderElection(flags *pflag.FlagSet) {
	flags.BoolVar(&o.LeaderElect, "leader-elect", false,
		"use leader election, so that only one of several replicas is active")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the leader election lease (default: the operator's namespace)")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", defaultLeaseDuration,
		"how long other replicas wait before one of them replaces a leader that does not renew its lease")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", defaultRenewDeadline,
		"how long a leader tries to renew its lease before it exits")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", defaultRetryPeriod,
		"time between two attempts to get or renew the lease")
}

// complete sets the options that depend on the environment, and validates the options.
func (o *Options) complete(getenv func(string) string) error {
	if o.OperatorNamespace == "" {
		o.OperatorNamespace = ownNamespace(getenv)
	}
	if o.LeaderElectionNamespace == "" {
		o.LeaderElectionNamespace = o.OperatorNamespace
	}
	if written := getenv(watchVariable); len(o.WatchNamespaces) == 0 && written != "" {
		for namespace := range strings.SplitSeq(written, ",") {
			o.WatchNamespaces = append(o.WatchNamespaces, strings.TrimSpace(namespace))
		}
	}
	o.WebhookBindAddress = cmp.Or(o.WebhookBindAddress, notServed)
	o.LeaseDuration = cmp.Or(o.LeaseDuration, defaultLeaseDuration)
	o.RenewDeadline = cmp.Or(o.RenewDeadline, defaultRenewDeadline)
	o.RetryPeriod = cmp.Or(o.RetryPeriod, defaultRetryPeriod)
	return o.check()
}

// check returns the errors in completed options.
func (o *Options) check() error {
	var errs []error
	for _, namespace := range slices.Concat([]string{o.OperatorNamespace, o.LeaderElectionNamespace}, o.WatchNamespaces) {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("namespace %q: %s", namespace, strings.Join(problems, "; ")))
		}
	}
	if o.QPS == 0 || (o.QPS > 0 && o.Burst < 1) {
		errs = append(errs, fmt.Errorf("--kube-api-qps %v and --kube-api-burst %d: set positive values, or set "+
			"--kube-api-qps to a negative value for no limit",
			o.QPS, o.Burst))
	}
	if o.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("--concurrency %d: must be positive; set 1 or more", o.Concurrency))
	}
	// client-go rejects these values. It multiplies RetryPeriod by JitterFactor to spread the attempts.
	if o.RetryPeriod <= 0 || o.LeaseDuration <= o.RenewDeadline ||
		float64(o.RenewDeadline) <= leaderelection.JitterFactor*float64(o.RetryPeriod) {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration %v, --leader-elect-renew-deadline %v, "+
			"--leader-elect-retry-period %v: set a positive retry period, a renew deadline longer than %v times the retry "+
			"period, and a lease duration longer than the renew deadline",
			o.LeaseDuration, o.RenewDeadline, o.RetryPeriod, leaderelection.JitterFactor))
	}
	return errors.Join(errs...)
}

func ownNamespace(getenv func(string) string) string {
	if namespace := getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	if data, err := os.ReadFile(namespaceFile); err == nil {
		return strings.TrimSpace(string(data))
	}
	return names.OperatorNamespace
}
