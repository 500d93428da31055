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

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
)

// Options are the operator's command-line options.
type Options struct {
	// MetricsBindAddress is where metrics are served; "0" serves none.
	MetricsBindAddress string
	// MetricsSecure serves them over TLS to who may read them.
	MetricsSecure bool
	// MetricsCertPath is a folder with MetricsCertName and MetricsCertKey; empty: a
	// certificate made at start.
	MetricsCertPath string
	// MetricsCertName and MetricsCertKey are the files in it; empty: tls.crt, tls.key.
	MetricsCertName, MetricsCertKey string
	// WebhookBindAddress is where the webhooks are served over TLS; empty or "0": nowhere.
	WebhookBindAddress string
	// WebhookCertPath is a folder with tls.crt and tls.key, which others make and
	// renew; empty: a certificate that the operator makes and injects.
	WebhookCertPath string
	// HealthProbeBindAddress is where /healthz and /readyz are served.
	HealthProbeBindAddress string
	// LeaderElect lets one of several replicas work.
	LeaderElect bool
	// LeaderElectionNamespace holds the lease; empty: OperatorNamespace.
	LeaderElectionNamespace string
	// LeaseDuration is how long a leader that does not answer is waited for,
	// RenewDeadline how long a leader tries to renew its lease before it gives up,
	// RetryPeriod the time between two attempts of either; zero: 15, 10 and 2 seconds.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// WatchNamespaces limits the operator to these; empty: those of $WATCH_NAMESPACE,
	// else all.
	WatchNamespaces []string
	// OperatorNamespace holds the operator's own Secret, ConfigMap and lease.
	OperatorNamespace string
	// QPS and Burst bound the calls to the API server; a negative QPS leaves that to the
	// API server, which shares its time fairly among its clients.
	QPS   float32
	Burst int
	// DialServer reaches the servers of stacks; nil: by the network and its DNS.
	// No argument sets it.
	DialServer probe.Dial
	// ProbeInterval is the pause between two questions for the health of a server's
	// providers; zero: the prober's own. No argument sets it.
	ProbeInterval time.Duration
	// TagInterval is the pause before a registry is asked again what the tag of an
	// image stands for, unless the operator's ConfigMap says; zero: an hour.
	TagInterval time.Duration
	// AutoscalerPatience is how long an autoscaler may do without metrics before it is
	// told; zero: the controller's own. No argument sets it.
	AutoscalerPatience time.Duration
	// Concurrency is how many stacks are reconciled at once.
	Concurrency int
}

const (
	// No bound: a thousand stacks would be looked at for more than a minute after a restart.
	defaultQPS         = -1
	defaultBurst       = 100
	defaultConcurrency = 4
	// Those of Kubernetes' own components.
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
	// watchVariable is what the Operator Lifecycle Manager and the tools around it call
	// the namespaces to work in, comma separated.
	watchVariable = "WATCH_NAMESPACE"
	// namespaceFile is where a pod finds its own namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// BindFlags adds the options to the flags.
func (o *Options) BindFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", ":8443",
		`address that metrics are served on, "0" for none`)
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", true,
		"serve metrics over TLS, to clients that the API server authenticates and authorizes")
	flags.StringVar(&o.MetricsCertPath, "metrics-cert-path", "",
		"folder with the certificate for metrics; unset: a self-signed certificate")
	flags.StringVar(&o.MetricsCertName, "metrics-cert-name", corev1.TLSCertKey, "file of the certificate in that folder")
	flags.StringVar(&o.MetricsCertKey, "metrics-cert-key", corev1.TLSPrivateKeyKey, "file of its key in that folder")
	flags.StringVar(&o.WebhookBindAddress, "webhook-bind-address", ":9443",
		`address that conversion and validation webhooks are served on, "0" for none`)
	flags.StringVar(&o.WebhookCertPath, "webhook-cert-path", "",
		"folder with tls.crt and tls.key for the webhooks; unset: the operator makes a certificate and registers its authority")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8081",
		"address that /healthz and /readyz are served on")
	flags.BoolVar(&o.LeaderElect, "leader-elect", false,
		"let only one of several replicas work")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the leader election lease; unset: the operator's namespace")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", defaultLeaseDuration,
		"how long the others wait for a leader that does not answer")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", defaultRenewDeadline,
		"how long a leader tries to renew its lease before it ends")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", defaultRetryPeriod,
		"time between two attempts to get or renew the lease")
	flags.StringSliceVar(&o.WatchNamespaces, "watch-namespaces", nil,
		"namespaces to work in, comma separated; unset: $"+watchVariable+", else all")
	flags.StringVar(&o.OperatorNamespace, "operator-namespace", "",
		"namespace of the operator; unset: $POD_NAMESPACE, else the one it runs in, else "+names.OperatorNamespace)
	flags.Float32Var(&o.QPS, "kube-api-qps", defaultQPS, "calls to the API server a second; negative: as many as it serves")
	flags.IntVar(&o.Burst, "kube-api-burst", defaultBurst, "calls to the API server at once, where --kube-api-qps bounds them")
	flags.IntVar(&o.Concurrency, "concurrency", defaultConcurrency, "stacks to reconcile at once")
}

// complete fills in what depends on where the operator runs, and checks the rest.
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

// check says what is wrong with options that are complete.
func (o *Options) check() error {
	var errs []error
	for _, namespace := range slices.Concat([]string{o.OperatorNamespace, o.LeaderElectionNamespace}, o.WatchNamespaces) {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("namespace %q: %s", namespace, strings.Join(problems, "; ")))
		}
	}
	if o.QPS == 0 || (o.QPS > 0 && o.Burst < 1) {
		errs = append(errs, fmt.Errorf("--kube-api-qps %v and --kube-api-burst %d: both must be positive, or the first negative for no bound",
			o.QPS, o.Burst))
	}
	if o.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("--concurrency %d: must be positive", o.Concurrency))
	}
	// What client-go asks for: an attempt to renew may be late by a fifth.
	if o.RetryPeriod <= 0 || o.LeaseDuration <= o.RenewDeadline || float64(o.RenewDeadline) <= leaderelection.JitterFactor*float64(o.RetryPeriod) {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration %v has to be longer than --leader-elect-renew-deadline %v, "+
			"and that longer than %v times --leader-elect-retry-period %v",
			o.LeaseDuration, o.RenewDeadline, leaderelection.JitterFactor, o.RetryPeriod))
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
