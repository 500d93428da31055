package faults_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// registries lists the faults in the registries from which the operator reads images.
var registries = []fault{
	{name: "the registry is unavailable, and the spec names a new image", slow: true, fresh: true, rolls: true, strikes: []strike{registryGone}, after: isReady},
}

func isReady(t *testing.T, s *stage) error { t.Helper(); return s.ready(t) }

// registryGone stops the registry of a stack whose configuration comes from the labels of its image. A restart of the
// operator and a change to the stack still succeed. Only a change to a new image is delayed.
func registryGone(t *testing.T, th *theatre, s *stage) func() {
	t.Helper()
	var down atomic.Bool
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	th.configure(t, operatorconfig.KeyRegistries, fmt.Sprintf("insecure: [%q]", host))
	spec := func(tag, model string) string {
		return fmt.Sprintf(`{distribution: {image: "%s/team/own:%s"}, resources: {models: [%s]}}`, host, tag, model)
	}
	push(t, host+"/team/own:1", "one")
	push(t, host+"/team/own:2", "two")
	s.apply(t, spec("1", "a"))
	eventually(t, "the stack with the image is ready", func() error { return s.ready(t) })
	before := s.pods(t)

	down.Store(true)
	th.operator.restart(t)
	s.apply(t, spec("1", "b"))
	eventually(t, "the stack is ready after a change without the registry", func() error { return s.ready(t) })
	changed := s.settled(t)
	if cmp.Equal(before, changed) {
		t.Error("the change did not cause a rollout of the pods")
	}
	s.apply(t, spec("2", "b"))
	eventually(t, "the stack reports that the new image cannot be read", func() error { return s.reports(t, "own:2") })
	if diff := cmp.Diff(changed, s.pods(t)); diff != "" {
		t.Errorf("the pods changed although the new image cannot be read (-want +got):\n%s", diff)
	}
	return func() { down.Store(false) }
}

// settled waits until a stack is idle, and returns its pods.
func (s *stage) settled(t *testing.T) []string {
	t.Helper()
	s.settle(t)
	return s.pods(t)
}

// push pushes an image that contains its configuration in a label.
func push(t *testing.T, reference, distribution string) {
	t.Helper()
	config := "version: 2\ndistro_name: " + distribution + "\napis: [inference]\nproviders:\n  inference:\n" +
		"  - provider_id: openai\n    provider_type: remote::openai\n    config: {}\n"
	image, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{
		"io.llamastack.config.base64": base64.StdEncoding.EncodeToString([]byte(config)), "io.llamastack.server.version": "0.7.3",
	}})
	testutil.Must(t, err)
	ref, err := name.ParseReference(reference, name.Insecure)
	testutil.Must(t, err)
	testutil.Must(t, remote.Write(ref, image))
}

// configure sets a key of the operator's ConfigMap.
func (c *cluster) configure(t *testing.T, key, value string) {
	t.Helper()
	config := &corev1.ConfigMap{}
	at := client.ObjectKey{Namespace: names.OperatorNamespace, Name: names.OperatorConfigMap}
	testutil.Must(t, c.Get(t.Context(), at, config))
	patch := client.MergeFrom(config.DeepCopy())
	config.Data[key] = value
	testutil.Must(t, c.Patch(t.Context(), config, patch))
}
