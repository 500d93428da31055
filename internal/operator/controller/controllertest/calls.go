package controllertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// call is a request in the audit log of the API server.
type call struct {
	Verb      string
	UserAgent string
	Stage     string
	ObjectRef struct{ Resource, Namespace, Name, Subresource string }
}

// String returns the verb, resource, subresource and name.
func (c call) String() string {
	parts := []string{c.Verb, c.ObjectRef.Resource, c.ObjectRef.Subresource, c.ObjectRef.Name}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// auditLog reads the API server's audit log. It reads each line only once, because every test uses the log many times a
// second.
type auditLog struct {
	mu    sync.Mutex
	path  string
	read  int64
	calls []call
}

// finishedCalls returns the requests that operators have completed so far. It leaves out watches, lists, and requests
// for events.
func (a *auditLog) finishedCalls(t *testing.T) []call {
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
	data = data[:bytes.LastIndexByte(data, '\n')+1] // leaves out the line that is being written
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

// ListCalls returns the requests of the operator or reconciler with this version in the test's namespace, for example
// "patch deployments my". It leaves out watches, lists and events.
func (env *Environment) ListCalls(t *testing.T, version string) []string {
	t.Helper()
	var calls []string
	for _, c := range audit.finishedCalls(t) {
		if c.UserAgent == names.UserAgent+"/"+version && c.ObjectRef.Namespace == env.Namespace {
			calls = append(calls, c.String())
		}
	}
	return calls
}

// WaitForCall waits until the operator or reconciler with this version has made more calls than the number `seen`.
func (env *Environment) WaitForCall(t *testing.T, version string, seen int) {
	t.Helper()
	WaitUntil(t, func() error {
		if len(env.ListCalls(t, version)) == seen {
			return errors.New("no reconcile yet")
		}
		return nil
	})
}

// ListWrites returns the calls that are not reads.
func ListWrites(calls []string) []string {
	return slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return strings.HasPrefix(c, "get ") })
}

// SortWrites sorts the writes of a new stack before its Deployment, and those between its Deployment and its status.
// The operator sends each of these groups at the same time.
func SortWrites(writes []string) []string {
	sorted := slices.Clone(writes)
	deployment := slices.IndexFunc(sorted, func(c string) bool { return strings.HasPrefix(c, "patch deployments ") })
	status := slices.IndexFunc(sorted, func(c string) bool {
		return strings.HasPrefix(c, "patch llamastackdistributions ")
	})
	if deployment >= 0 && deployment < status {
		slices.Sort(sorted[:deployment])
		slices.Sort(sorted[deployment+1 : status])
	}
	return sorted
}

// WaitUntilIdle waits until the operator has not made a call for a while, and returns all its calls. If the test uses a
// Reconciler, WaitUntilIdle reconciles until a reconcile causes no writes. If the Reconciler has workers, WaitUntilIdle
// continues until no reconcile has caused a write for a while.
func (env *Environment) WaitUntilIdle(t *testing.T, version string) []string {
	t.Helper()
	return env.WaitUntilIdleWithin(t, version, Timeout)
}

// WaitUntilIdleWithin is WaitUntilIdle with a different time limit, for tests with more than one stack.
func (env *Environment) WaitUntilIdleWithin(t *testing.T, version string, limit time.Duration) []string {
	t.Helper()
	// A moment without calls is not sufficient. An operator may be waiting for its watches, and the workers of a
	// Reconciler may be waiting for servers and registries on this machine.
	quiet, interval, relevant := Slowdown*700*time.Millisecond, 5*PollInterval, slices.Clone[[]string]
	calls := env.ListCalls(t, version)
	if Reconcile(t) {
		quiet, interval, relevant = 0, PollInterval, ListWrites // every reconcile causes reads
		if env.Workers {
			quiet = Slowdown * 200 * time.Millisecond
		}
	}
	since := time.Now()
	err := wait.PollUntilContextTimeout(t.Context(), interval, limit, true, func(context.Context) (bool, error) {
		now := env.ListCalls(t, version)
		changed := len(relevant(now)) != len(relevant(calls))
		if calls = now; changed {
			since = time.Now()
		} else if time.Since(since) > quiet {
			return true, nil
		}
		Reconcile(t) //nolint:contextcheck // the end of this wait must not end a reconcile
		return false, nil
	})
	if err != nil {
		t.Fatalf("the operator did not become idle: %v", calls)
	}
	return calls
}

// HasWrites reports whether a call creates, changes or deletes an object.
func HasWrites(calls []string) bool {
	for _, call := range calls {
		if strings.HasPrefix(call, "patch ") || strings.HasPrefix(call, "create ") || strings.HasPrefix(call, "delete ") ||
			strings.HasPrefix(call, "update ") {
			return true
		}
	}
	return false
}

// CountCalls returns the number of calls for each verb and resource.
func CountCalls(calls []string) map[string]int {
	counts := map[string]int{}
	for _, call := range calls {
		counts[call[:strings.LastIndex(call, " ")]]++
	}
	return counts
}
