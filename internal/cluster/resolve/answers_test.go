package resolve_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// TestAnswers checks which queries after a first one read the Secret again.
func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		value  string
		first  func(*resolve.SecretQuery) // changes the first query
		second func(*resolve.SecretQuery) // changes the second query
		reads  bool
	}{
		"the same":      {},
		"another path":  {second: func(q *resolve.SecretQuery) { q.Uses[0].Path = "spec.y" }},
		"changed stack": {second: func(q *resolve.SecretQuery) { q.Changed = true }, reads: true},
		"another key":   {second: func(q *resolve.SecretQuery) { q.Key = resolve.DigestKey{ID: "b"} }, reads: true},
		"namespace":     {second: func(q *resolve.SecretQuery) { q.Namespace = "other" }, reads: true},
		"variable":      {second: func(q *resolve.SecretQuery) { q.Uses[0].EnvVar = "LLSD_Y" }, reads: true},
		"number": {second: func(q *resolve.SecretQuery) {
			q.Text = func(string) bool { return false }
		}, reads: true},
		"unusable":        {value: "a\x00b", reads: true},
		"changed Secret":  {second: cache("8"), reads: true},
		"newer than read": {first: cache("6"), second: cache("6"), reads: true},
		"not in the cache": {
			first:  func(q *resolve.SecretQuery) { q.Cache = fake.NewFakeClient() },
			second: func(q *resolve.SecretQuery) { q.Cache = fake.NewFakeClient() }, reads: true,
		},
		"derived values": {
			first: purpose(intent.PurposeConnectionString), second: purpose(intent.PurposeConnectionString),
			value: "postgresql://u:p@h/d", reads: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.value == "" {
				tc.value = "sk-1"
			}
			live := secret("a", "token", tc.value)
			live.ResourceVersion = "7"
			other := live.DeepCopy()
			other.Namespace = "other"
			w, answers := newWorld(live, other), resolve.NewAnswers()
			ask := func(change func(*resolve.SecretQuery)) string {
				q := query(always, use("a", "token", "spec.x"))
				q.Cache, q.Answers = fake.NewFakeClient(live, other), answers
				if change != nil {
					change(&q)
				}
				values, _ := resolve.Secrets(t.Context(), w, q)
				return values.Digest()
			}
			before := ask(tc.first)
			reads := len(w.gets)
			after := ask(tc.second)
			if got := len(w.gets) > reads; got != tc.reads {
				t.Errorf("the second query reads: %t, want %t", got, tc.reads)
			}
			if !tc.reads && (before == "" || after != before) {
				t.Errorf("the digest is %q, and then %q", before, after)
			}
		})
	}
}

// cache makes a query see this version of the Secret in the cache.
func cache(version string) func(*resolve.SecretQuery) {
	return func(q *resolve.SecretQuery) {
		cached := secret("a", "token", "x")
		cached.ResourceVersion = version
		q.Cache = fake.NewFakeClient(cached)
	}
}

func purpose(of intent.Purpose) func(*resolve.SecretQuery) {
	return func(q *resolve.SecretQuery) { q.Uses[0].Purpose = of }
}
