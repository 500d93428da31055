package cloud

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/address"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/clouds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
)

const (
	patience = 2 * time.Minute
	settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: %s}
data: {registries: "cloudIdentity: [%s/team]"}
`
	stacks = `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: mine, namespace: default}
spec: {distribution: {image: "%[1]s/team/server:1"}, resources: {models: [a]}}
---
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: others, namespace: default}
spec: {distribution: {image: "%[1]s/secret/server:1"}, resources: {models: [a]}}
`
)

// TestIdentityOfAWS checks that the operator reads an image from ECR with IRSA. It also checks that the operator does
// not read another image in the same registry, although the operator's identity could read that image.
func TestIdentityOfAWS(t *testing.T) {
	stands := clouds.Serve(t)
	stands.Registries(content(t))
	c := cluster{process.StartCluster(t, testutil.Options{})}
	c.Install(t)
	through, authority := proxy(t, stands)
	token := write(t, "token", clouds.WebIdentity)
	c.Environment = []string{
		"HTTPS_PROXY=" + through, "SSL_CERT_FILE=" + authority,
		"AWS_REGION=" + clouds.Region, "AWS_ROLE_ARN=" + clouds.Role, "AWS_WEB_IDENTITY_TOKEN_FILE=" + token,
	}
	c.MustKubectl(t, "apply", "-f", write(t, "settings.yaml",
		fmt.Sprintf(settings, names.OperatorConfigMap, names.OperatorNamespace, clouds.ECR)))
	o := c.StartOperator(t)
	testutil.Within(t, patience, o.Ready)
	c.Publish(t, o)
	applied := write(t, "stacks.yaml", fmt.Sprintf(stacks, clouds.ECR))
	testutil.Within(t, patience, func() error {
		_, err := c.Kubectl(t, "apply", "-f", applied)
		return err
	})
	c.reports(t, "mine", "ConfigGenerationSucceeded", "")
	c.reports(t, "others", "BaseConfigUnavailable", "the registry responds with status 401 Unauthorized")
	if asked := stands.Asked(clouds.ECR + "/v2/team/"); len(asked) == 0 || len(asked) > 3 {
		t.Errorf("%d requests for the image, want 1 to 3", len(asked))
	}
	for place, want := range map[string]int{"sts.": 1, "api.ecr.": 1} {
		if asked := stands.Asked(place); len(asked) != want {
			t.Errorf("%s received %d requests, want %d", place, len(asked), want)
		}
	}
	for _, one := range stands.Asked(clouds.ECR + "/v2/secret/") {
		if one.Header.Get("Authorization") != "" {
			t.Errorf("%s received credentials", one.Place)
		}
	}
	everything := c.MustKubectl(t, "get", "llamastackdistributions,configmaps,deployments,events,secrets,leases", "-A", "-o", "yaml")
	for where, text := range map[string]string{"the log": o.Log.String(), "an object": everything} {
		encoded := base64.StdEncoding.EncodeToString([]byte(clouds.Secret))
		if strings.Contains(text, clouds.Secret) || strings.Contains(text, encoded[:12]) {
			t.Errorf("%s contains a token", where)
		}
	}
}

// content returns a handler that serves two images with a configuration.
func content(t *testing.T) http.Handler {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	config := "version: 2\ndistro_name: own\napis: [inference]\nproviders:\n  inference:\n  - provider_id: openai\n    provider_type: remote::openai\n    config: {}\n"
	image, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{
		"io.llamastack.config.base64": base64.StdEncoding.EncodeToString([]byte(config)), "io.llamastack.server.version": "0.7.3",
	}})
	testutil.Must(t, err)
	place, err := url.Parse(server.URL)
	testutil.Must(t, err)
	for _, repository := range []string{"team", "secret"} {
		ref, err := name.ParseReference(place.Host+"/"+repository+"/server:1", name.Insecure)
		testutil.Must(t, err)
		testutil.Must(t, remote.Write(ref, image))
	}
	return httputil.NewSingleHostReverseProxy(place)
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	testutil.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

type cluster struct{ *process.Cluster }

// proxy starts a proxy that forwards every connection to the stand-ins. It returns the URL of the proxy, and the file
// with the certificate of the stand-ins.
func proxy(t *testing.T, stands http.Handler) (at, authority string) {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour),
		clouds.ECR, "api.ecr."+clouds.Region+".amazonaws.com", "sts."+clouds.Region+".amazonaws.com")
	pair, err := tls.X509KeyPair(certificate, key)
	testutil.Must(t, err)
	target := httptest.NewUnstartedServer(stands)
	target.Config.ErrorLog = log.New(io.Discard, "", 0)
	target.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	target.StartTLS()
	t.Cleanup(target.Close)
	listener := listen(t)
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodConnect {
				http.Error(w, "connect", http.StatusMethodNotAllowed)
				return
			}
			tunnel(w, target.Listener.Addr().String())
		}),
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), write(t, "ca.crt", string(certificate))
}

// listen listens on an address of this machine that is not a special-purpose address, because the operator does not
// connect to special-purpose addresses.
func listen(t *testing.T) net.Listener {
	t.Helper()
	own, err := net.InterfaceAddrs()
	testutil.Must(t, err)
	for _, one := range own {
		network, ok := one.(*net.IPNet)
		if !ok || address.CheckDialed(t.Context(), "tcp", net.JoinHostPort(network.IP.String(), "80"), nil) != nil {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(network.IP.String(), "0"))
		if err == nil {
			return listener
		}
	}
	t.Skip("this machine has no address to which the operator may connect")
	return nil
}

func tunnel(w http.ResponseWriter, to string) {
	there, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	go func() {
		_, _ = io.Copy(there, here)
		_ = there.Close()
	}()
	go func() {
		_, _ = io.Copy(here, there)
		_ = here.Close()
	}()
}

// reports waits until the condition about a stack's configuration has this reason, and a message that contains these
// words.
func (c cluster) reports(t *testing.T, stack, reason, part string) {
	t.Helper()
	testutil.Within(t, patience, func() error {
		var object struct {
			Status struct {
				Conditions []struct{ Type, Reason, Message string }
			}
		}
		if err := json.Unmarshal([]byte(c.MustKubectl(t, "get", "llamastackdistribution", stack, "-o", "json")),
			&object); err != nil {
			return err
		}
		for _, one := range object.Status.Conditions {
			if one.Type == "ConfigGenerated" && one.Reason == reason && strings.Contains(one.Message, part) {
				return nil
			}
		}
		return fmt.Errorf("%s has the conditions %+v", stack, object.Status.Conditions)
	})
}
