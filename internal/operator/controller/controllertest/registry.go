package controllertest

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

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

const (
	// ConfigLabel is the label that contains the configuration of an image, in Base64.
	ConfigLabel = "io.llamastack.config.base64"
	// ReleaseLabel is the label that contains the release of the server in an image.
	ReleaseLabel = "io.llamastack.server.version"

	imageConfig = `version: 2
distro_name: own
apis: [inference]
providers:
  inference:
  - provider_id: openai
    provider_type: remote::openai
    config: {}
`
)

// Registry is an image registry on this machine.
type Registry struct {
	// Host is the host and port of the registry.
	Host string
	// Requests is the number of requests so far.
	Requests atomic.Int64
	// Down makes the registry reject all requests.
	Down atomic.Bool
	// Password is the password that the registry requires, with any user name. Nil means that it requires no password.
	Password atomic.Pointer[string]
}

// StartRegistry starts a registry and configures the operator to connect to it without TLS. StartRegistry needs a
// running operator or Reconciler, and OwnOperatorConfig.
func (env *Environment) StartRegistry(t *testing.T) *Registry {
	t.Helper()
	r := NewRegistry(t)
	env.SetOperatorConfig(t, operatorconfig.KeyRegistries, fmt.Sprintf("insecure: [%q]", r.Host))
	return r
}

// NewRegistry starts a registry, which stops at the end of the test.
func NewRegistry(t *testing.T) *Registry {
	t.Helper()
	r := &Registry{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.Requests.Add(1)
		password := r.Password.Load()
		switch _, given, _ := request.BasicAuth(); {
		case r.Down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case password != nil && given != *password:
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, request)
		}
	}))
	t.Cleanup(server.Close)
	r.Host = strings.TrimPrefix(server.URL, "http://")
	return r
}

// PushImage pushes an empty image with labels to the registry, and returns its name and its digest.
func (r *Registry) PushImage(t *testing.T, repository string, labels map[string]string) (image, digest string) {
	t.Helper()
	built, err := mutate.Config(empty.Image, v1.Config{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(r.Host+"/"+repository, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, built); err != nil {
		t.Fatal(err)
	}
	hash, err := built.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return r.Host + "/" + repository, hash.String()
}

// ConfigLabels returns the labels of an image with its own configuration. If release is empty, it omits ReleaseLabel.
func ConfigLabels(release string) map[string]string {
	labels := map[string]string{ConfigLabel: base64.StdEncoding.EncodeToString([]byte(imageConfig))}
	if release != "" {
		labels[ReleaseLabel] = release
	}
	return labels
}

// StartOperatorWithRegistry starts an operator with the version "labels", and a registry that it is allowed to read.
func (env *Environment) StartOperatorWithRegistry(t *testing.T) (*Registry, *Operator) {
	t.Helper()
	env.OwnOperatorConfig = true
	operator := env.StartOperator(t, "labels")
	return env.StartRegistry(t), operator
}

// StartReconcilerWithRegistry starts a Reconciler with Workers and the version "labels", and a registry that it is
// allowed to read.
func (env *Environment) StartReconcilerWithRegistry(t *testing.T) (*Registry, *Reconciler) {
	t.Helper()
	env.OwnOperatorConfig, env.Workers = true, true
	r := env.StartReconciler(t, "labels")
	return env.StartRegistry(t), r
}
