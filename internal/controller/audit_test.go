package controller_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// call is one request in the API server's audit log.
type call struct {
	Verb      string
	UserAgent string
	Stage     string
	ObjectRef struct{ Resource, Namespace, Name, Subresource string }
}

func (c call) String() string {
	parts := []string{c.Verb, c.ObjectRef.Resource, c.ObjectRef.Subresource, c.ObjectRef.Name}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// auditTrail reads the API server's audit log. It reads each line once, because every test reads the log many times a
// second.
type auditTrail struct {
	mu    sync.Mutex
	path  string
	read  int64
	calls []call
}

// all returns the finished requests of operators so far, without watches, the lists that begin them, and events.
func (a *auditTrail) all(t *testing.T) []call {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	file, err := os.Open(a.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, a.read, math.MaxInt64-a.read))
	if err != nil {
		t.Fatal(err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // without the line that is being written
	for line := range bytes.Lines(data) {
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("audit log: %v in %s", err, line)
		}
		if strings.HasPrefix(c.UserAgent, names.UserAgent) && c.Stage == "ResponseComplete" &&
			c.Verb != "watch" && c.Verb != "list" && c.ObjectRef.Resource != "events" {
			a.calls = append(a.calls, c)
		}
	}
	a.read += int64(len(data))
	return a.calls
}

// calls returns the operator's requests in the test's namespace.
func (b *bench) calls(t *testing.T, version string) []string {
	t.Helper()
	var calls []string
	for _, c := range audit.all(t) {
		if c.UserAgent == names.UserAgent+"/"+version && c.ObjectRef.Namespace == b.namespace {
			calls = append(calls, c.String())
		}
	}
	return calls
}

func writes(calls []string) []string {
	return slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return strings.HasPrefix(c, "get ") })
}

// settled waits until the operator has made no call for a while, and returns all its calls.
func (b *bench) settled(t *testing.T, version string) []string {
	t.Helper()
	return b.settledWithin(t, version, soon)
}

// settledWithin is settled with another time limit, for tests with more than one stack.
func (b *bench) settledWithin(t *testing.T, version string, limit time.Duration) []string {
	t.Helper()
	const quiet = slowdown * 700 * time.Millisecond
	calls := b.calls(t, version)
	for reconcileDirects(t) { // no operator makes calls
		now := b.calls(t, version)
		if len(writes(now)) == len(writes(calls)) {
			return now
		}
		calls = now
	}
	since := time.Now()
	err := wait.PollUntilContextTimeout(t.Context(), 5*poll, limit, true, func(context.Context) (bool, error) {
		now := b.calls(t, version)
		if len(now) != len(calls) {
			calls, since = now, time.Now()
		}
		return time.Since(since) > quiet, nil
	})
	if err != nil {
		t.Fatalf("the operator never rests: %v", calls)
	}
	return calls
}

const fullSpec = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama]}
workload: {storage: {size: 1Gi}}
`

// TestCalls checks the documented number of calls. A new object causes one write for each child and one for the status.
// Each visible transition causes one status write. An object in its desired state causes none, also after a restart.
func TestCalls(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	b.start(t, "calls-1")
	b.create(t, b.stack(t, "my", fullSpec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)

	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	children := []string{
		"patch configmaps " + names.BaseConfigMap("my", baseHash(t)),
		"patch configmaps " + stack.Status.ConfigGeneration.ConfigMapName,
		"patch configmaps " + names.Startup("my"),
		"patch serviceaccounts my-sa",
		"patch persistentvolumeclaims my-pvc",
		"patch deployments my",
		"patch services my-service",
	}
	want := append(slices.Clone(children), "patch llamastackdistributions status my")
	seen := b.settled(t, "calls-1")
	if diff := cmp.Diff(want, writes(seen)); diff != "" {
		t.Errorf("writes of a new object (-want +got):\n%s", diff)
	}

	t.Run("one status write for a transition", func(t *testing.T) {
		b.rollOut(t, "my")
		b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
		now := b.settled(t, "calls-1")
		if diff := cmp.Diff([]string{"patch llamastackdistributions status my"}, writes(now[len(seen):])); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		seen = now
	})
	t.Run("another reconcile reads Secrets only", func(t *testing.T) {
		b.get(t, "my", stack)
		touched := stack.DeepCopy()
		touched.Annotations = map[string]string{"somebody": "touched it"}
		if err := b.Patch(t.Context(), touched, client.MergeFrom(stack)); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error {
			if len(b.calls(t, "calls-1")) == len(seen) {
				return fmt.Errorf("no reconcile yet")
			}
			return nil
		})
		now := b.settled(t, "calls-1")
		if diff := cmp.Diff([]string{"get secrets vllm-creds"}, now[len(seen):]); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		seen = now
	})
	t.Run("an idle object costs nothing", func(t *testing.T) {
		const idle = 5 * time.Second
		err := wait.PollUntilContextTimeout(t.Context(), 10*poll, idle, true, func(context.Context) (bool, error) {
			return len(b.calls(t, "calls-1")) > len(seen), nil
		})
		if err == nil {
			t.Errorf("calls of an idle object: %v", b.calls(t, "calls-1")[len(seen):])
		}
	})
	t.Run("a restart writes nothing but that the version is another", func(t *testing.T) {
		b.start(t, "calls-2")
		b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
		eventually(t, func() error {
			if len(writes(b.calls(t, "calls-2"))) == 0 {
				return fmt.Errorf("the version is not written yet")
			}
			return nil
		})
		if diff := cmp.Diff([]string{"patch llamastackdistributions status my"},
			writes(b.settled(t, "calls-2"))); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
	})
}

// TestRestart checks that a restart of the same operator writes nothing.
func TestRestart(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	first := b.start(t, "restart")
	b.create(t, b.stack(t, "my", fullSpec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	seen := b.settled(t, "restart")
	first.stop(t)
	b.start(t, "restart")
	eventually(t, func() error {
		if len(b.calls(t, "restart")) == len(seen) {
			return fmt.Errorf("no reconcile yet")
		}
		return nil
	})
	now := b.settled(t, "restart")[len(seen):]
	if got := writes(now); len(got) != 0 {
		t.Errorf("writes after a restart: %v", got)
	}
	// reads lists each read of a Secret or ConfigMap beyond its metadata, once.
	var reads []string
	for _, call := range now {
		if fields := strings.Fields(call); fields[0] == "get" && strings.HasPrefix(fields[2], "my-") {
			reads = append(reads, call[:strings.LastIndex(call, "-")])
		} else {
			reads = append(reads, call)
		}
	}
	slices.Sort(reads)
	want := []string{"get configmaps my", "get configmaps my-base", "get configmaps my-config", "get secrets vllm-creds"}
	if diff := cmp.Diff(want, reads); diff != "" {
		t.Errorf("reads of a restart (-want +got):\n%s", diff)
	}
}
