package controllertest

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager"
)

// Operator is a running operator.
type Operator struct {
	cancel context.CancelFunc
	done   chan error
}

// concurrent begins the names of the tests with an operator, whose goroutines reconcile several stacks at once.
const concurrent = "TestRunning"

// StartOperator starts an operator with the ServiceAccount and the options of the environment. Unless AllNamespaces is
// set, the operator works in the test's namespace only, so that the operators of different tests do not interfere. The
// version identifies the operator's calls for ListCalls and WaitUntilIdle. The functions in `wraps` can observe and
// change the operator's requests to the API server. The operator stops at the end of the test.
func (env *Environment) StartOperator(
	t *testing.T, version string, wraps ...func(http.RoundTripper) http.RoundTripper,
) *Operator {
	t.Helper()
	if !strings.HasPrefix(t.Name(), concurrent) {
		t.Fatalf("the name of a test that starts an operator begins with %s, so that the test runs under the race detector (see the Makefile)", concurrent)
	}
	config := controlPlane.As(cmp.Or(env.ServiceAccount, names.OperatorServiceAccount))
	for _, wrap := range wraps {
		config.Wrap(wrap)
	}
	options := manager.Options{
		MetricsBindAddress: "0", HealthProbeBindAddress: "0", WatchNamespaces: []string{env.Namespace},
		QPS: 1000, Burst: 1000, Concurrency: 4, ProbeInterval: env.ProbeInterval, TagInterval: env.TagInterval,
		DialServer: env.dialServer(),
	}
	if env.AllNamespaces {
		options.WatchNamespaces = nil
	}
	if env.OwnOperatorConfig {
		options.OperatorNamespace = env.Namespace
	}
	mgr, err := manager.New(t.Context(), config, options, version, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &Operator{cancel: cancel, done: make(chan error, 1)}
	go func() { o.done <- mgr.Start(ctx) }()
	t.Cleanup(func() { o.Stop(t) })
	return o
}

// Stop stops the operator and waits until it has stopped.
func (o *Operator) Stop(t *testing.T) {
	t.Helper()
	if o.cancel == nil {
		return
	}
	o.cancel()
	o.cancel = nil
	if err := <-o.done; err != nil {
		t.Errorf("the operator ended with an error: %v", err)
	}
}

// dialServer returns the function that connects to servers. If the test has no server, that function returns an error.
func (env *Environment) dialServer() probe.Dial {
	if env.DialServer != nil {
		return env.DialServer
	}
	return func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("there is no server") }
}
