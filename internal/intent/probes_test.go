package intent

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestOwnProbes(t *testing.T) {
	for change, want := range map[string]bool{
		``:                     false,
		`{}`:                   false,
		`{"spec": "nonsense"}`: false,
		`{"spec": {"containers": [{"name": "llama-stack"}]}}`:                                          false,
		`{"spec": {"containers": [{"name": "llama-stack", "livenessProbe": {}}]}}`:                     false,
		`{"spec": {"containers": [{"name": "a"}, {"readinessProbe": {"tcpSocket": {"port": 1}}}]}}`:    true,
		`{"spec": {"containers": [{"name": "llama-stack", "readinessProbe": {"$patch": "replace"}}]}}`: true,
	} {
		if got := ownProbes(&apiextensionsv1.JSON{Raw: []byte(change)}); got != want {
			t.Errorf("%s: own probes: %t, want %t", change, got, want)
		}
	}
	if ownProbes(nil) {
		t.Error("ownProbes returns true for a missing patch")
	}
}
