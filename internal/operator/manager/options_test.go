package manager

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func parse(t *testing.T, args ...string) Options {
	t.Helper()
	var options Options
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.BindFlags(flags)
	testutil.Must(t, flags.Parse(args))
	return options
}

func noEnvironment(string) string { return "" }

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		env  map[string]string
		want func(*Options)
		err  string
	}{
		{name: "defaults", want: func(*Options) {}},
		{
			name: "all",
			args: []string{
				"--metrics-bind-address=0", "--metrics-secure=false", "--metrics-cert-path=/certs",
				"--health-probe-bind-address=:9",
				"--leader-elect", "--leader-election-namespace=le", "--watch-namespaces=a,b", "--watch-namespaces=c",
				"--operator-namespace=op", "--kube-api-qps=7", "--kube-api-burst=8", "--concurrency=9",
				"--metrics-cert-name=a.crt", "--metrics-cert-key=a.key", "--leader-elect-lease-duration=1m",
				"--leader-elect-renew-deadline=30s", "--leader-elect-retry-period=5s",
				"--webhook-bind-address=127.0.0.1:9", "--webhook-cert-path=/webhook",
			},
			want: func(o *Options) {
				*o = Options{
					MetricsBindAddress: "0", MetricsCertPath: "/certs", HealthProbeBindAddress: ":9", LeaderElect: true,
					WebhookBindAddress: "127.0.0.1:9", WebhookCertPath: "/webhook",
					LeaderElectionNamespace: "le", WatchNamespaces: []string{"a", "b", "c"}, OperatorNamespace: "op",
					QPS: 7, Burst: 8, Concurrency: 9, MetricsCertName: "a.crt", MetricsCertKey: "a.key",
					LeaseDuration: time.Minute, RenewDeadline: 30 * time.Second, RetryPeriod: 5 * time.Second,
				}
			},
		},
		{
			name: "namespace of the pod", env: map[string]string{"POD_NAMESPACE": "pod-ns"},
			want: func(o *Options) { o.OperatorNamespace, o.LeaderElectionNamespace = "pod-ns", "pod-ns" },
		},
		{
			name: "namespaces in the variable", env: map[string]string{"WATCH_NAMESPACE": "a, b"},
			want: func(o *Options) { o.WatchNamespaces = []string{"a", "b"} },
		},
		{
			name: "an option takes precedence over its variable", args: []string{"--watch-namespaces=c"},
			env:  map[string]string{"WATCH_NAMESPACE": "a,b"},
			want: func(o *Options) { o.WatchNamespaces = []string{"c"} },
		},
		{name: "a variable that ends in a comma", env: map[string]string{"WATCH_NAMESPACE": "a,"}, err: `namespace ""`},
		{
			name: "a lease that ends before it is renewed", args: []string{"--leader-elect-lease-duration=10s"},
			err: "--leader-elect-lease-duration 10s, --leader-elect-renew-deadline 10s, ",
		},
		{
			name: "a lease that cannot be renewed in time", args: []string{"--leader-elect-retry-period=9s"},
			err: "--leader-elect-retry-period 9s: set a positive retry period, a renew deadline longer than 1.2 times",
		},
		{name: "no pause", args: []string{"--leader-elect-retry-period=-1s"}, err: "--leader-elect-retry-period -1s"},
		{name: "an invalid namespace", args: []string{"--watch-namespaces=a,B_c"}, err: `namespace "B_c"`},
		{name: "no calls per second", args: []string{"--kube-api-qps=0"}, err: "set positive values"},
		{name: "no burst", args: []string{"--kube-api-qps=7", "--kube-api-burst=0"}, err: "set positive values"},
		{name: "no worker", args: []string{"--concurrency=0"}, err: "--concurrency 0: must be positive"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			options := parse(t, tc.args...)
			err := options.complete(func(name string) string { return tc.env[name] })
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("complete: %v, want %s", err, tc.err)
				}
				return
			}
			want := Options{
				MetricsBindAddress: ":8443", MetricsSecure: true, WebhookBindAddress: ":9443", HealthProbeBindAddress: ":8081",
				OperatorNamespace: names.OperatorNamespace, LeaderElectionNamespace: names.OperatorNamespace,
				QPS: -1, Burst: 100, Concurrency: 4, MetricsCertName: "tls.crt", MetricsCertKey: "tls.key",
				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			}
			tc.want(&want)
			if diff := cmp.Diff(want, options); diff != "" || err != nil {
				t.Errorf("options (-want +got): %v\n%s", err, diff)
			}
		})
	}
}

func TestRunRefusesBadArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		text string
	}{
		"help":             {[]string{"--help"}, 0, "--watch-namespaces"},
		"version":          {[]string{"--version"}, 0, "v1"},
		"unknown flag":     {[]string{"--nonsense"}, 1, "unknown flag: --nonsense"},
		"unknown argument": {[]string{"start"}, 1, `unknown argument "start"`},
		"no API server":    {[]string{"--kubeconfig=/nonexistent"}, 1, "find the API server"},
	} {
		t.Run(name, func(t *testing.T) {
			var out testutil.Log
			code := Run(t.Context(), tc.args, "v1", noEnvironment, &out)
			if code != tc.code || !strings.Contains(out.String(), tc.text) {
				t.Errorf("exit code %d, output:\n%s", code, out.String())
			}
		})
	}
}
