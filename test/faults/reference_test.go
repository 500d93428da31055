package faults_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// references are faults of what the stack refers to.
var references = []fault{
	{name: "a Secret deleted, and restored", strikes: []strike{deleted(`"creds"`, (*stage).sameCreds)}},
	{name: "the base configuration deleted, and restored", strikes: []strike{deleted(`"base"`, (*stage).sameBase)}},
}

// deleted takes away what the stack refers to and waits until the stack tells so; at the end it is there again.
func deleted(tells string, object func(*stage) client.Object) strike {
	return func(t *testing.T, _ *theatre, s *stage) func() {
		t.Helper()
		if err := s.Delete(t.Context(), object(s)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the stack tells that it is gone", func() error { return s.tells(t, tells) })
		return func() { s.create(t, object(s)) }
	}
}

func (s *stage) sameCreds() client.Object { return s.creds() }

func (s *stage) sameBase() client.Object {
	return &corev1.ConfigMap{ObjectMeta: s.named("base"), Data: s.base().Data}
}
