package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// sender sends requests as bytes, because a client cannot encode the objects of an attacker.
type sender struct {
	*http.Client
	host string
}

func newSender(t testing.TB) sender {
	t.Helper()
	client, err := rest.HTTPClientFor(plane.Config)
	testutil.Must(t, err)
	return sender{client, strings.TrimSuffix(plane.Config.Host, "/")}
}

// stacks is the path of the stacks in a namespace.
const stacks = "/apis/llamastack.io/%s/namespaces/default/llamastackdistributions"

// send returns the status code and the beginning of the answer to a request.
func (s sender) send(t testing.TB, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.host+path, strings.NewReader(body))
	testutil.Must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	testutil.Must(t, err)
	var status struct{ Message string }
	if json.Unmarshal(answer, &status) == nil && status.Message != "" {
		answer = []byte(status.Message)
	}
	return response.StatusCode, string(bytes.TrimSpace(answer[:min(len(answer), 400)]))
}

// manifest returns a stack whose spec is complete except for its last closing bracket.
func manifest(version, name, spec string) string {
	kind := "LlamaStackDistribution"
	return fmt.Sprintf(`{"apiVersion": "llamastack.io/%s", "kind": %q, "metadata": {"name": %q}, "spec": %s}`, version, kind, name, spec)
}

// withMetadata returns a plain v1alpha1 or v1alpha2 stack with this metadata.
func withMetadata(version, metadata string) string {
	spec := `{"distribution": {"name": "starter"}}`
	if version == v1alpha1.GroupVersion.Version {
		spec = `{"server": ` + spec + `}`
	}
	return fmt.Sprintf(`{"apiVersion": "llamastack.io/%s", "kind": "LlamaStackDistribution", "metadata": %s, "spec": %s}`,
		version, metadata, spec)
}

// nested returns a value with a number of levels of objects and lists.
func nested(levels int, list bool) string {
	if list {
		return strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels)
	}
	return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
}

// places contains a specification with a free-form value, for each kind of place of v1alpha2. %s is the value.
var places = map[string]string{
	"settings":              `{"distribution": {"name": "starter"}, "settings": {"a": %s}}`,
	"provider":              `{"distribution": {"name": "starter"}, "providers": {"inference": {"provider": "vllm", "a": %s}}}`,
	"list of providers":     `{"distribution": {"name": "starter"}, "providers": {"skills": [{"id": "a", "provider": "vllm", "settings": {"a": %s}}]}}`,
	"providers themselves":  `{"distribution": {"name": "starter"}, "providers": {"safety": %s}}`,
	"model":                 `{"distribution": {"name": "starter"}, "resources": {"models": [{"name": "a", "metadata": {"a": %s}}]}}`,
	"tool":                  `{"distribution": {"name": "starter"}, "resources": {"tools": [%s]}}`,
	"shield":                `{"distribution": {"name": "starter"}, "resources": {"shields": [{"name": "a", "params": {"a": %s}}]}}`,
	"expose":                `{"distribution": {"name": "starter"}, "networking": {"expose": {"hostname": "a.example.com", "a": %s}}}`,
	"external provider":     `{"distribution": {"name": "starter"}, "externalProviders": {"inference": [{"providerId": "a", "image": "a/b", "config": {"a": %s}}]}}`,
	"pod template":          `{"distribution": {"name": "starter"}, "workload": {"overrides": {"podTemplate": {"spec": %s}}}}`,
	"pod template metadata": `{"distribution": {"name": "starter"}, "workload": {"overrides": {"podTemplate": {"metadata": {"labels": %s}}}}}`,
}

// The API server does not store a value that is nested so deeply that no client or even the API server itself can read
// it again. This is the policy alone, without the operator's webhook.
func TestDeepValues(t *testing.T) {
	s := newSender(t)
	path := fmt.Sprintf(stacks, v1alpha2.GroupVersion.Version)
	for name, spec := range places {
		for _, levels := range []int{13, 200, 9_980} {
			for _, list := range []bool{false, true} {
				body := manifest(v1alpha2.GroupVersion.Version, "deep", fmt.Sprintf(spec, nested(levels, list)))
				if code, answer := s.send(t, http.MethodPost, path+"?dryRun=All", body); code != http.StatusUnprocessableEntity ||
					!strings.Contains(answer, tooNested) && !slices.Contains(precise, name) {
					t.Errorf("%s: %d levels: %d %s", name, levels, code, answer)
				}
			}
		}
		body := manifest(v1alpha2.GroupVersion.Version, "wide", fmt.Sprintf(spec, "["+strings.Repeat("[],", 500)+"[]]"))
		if code, answer := s.send(t, http.MethodPost, path+"?dryRun=All", body); code != http.StatusUnprocessableEntity {
			t.Errorf("%s: 501 entries: %d %s", name, code, answer)
		}
	}
	// These depths are stored without the policy: the first breaks every list, and the second every client.
	for _, levels := range []int{9_994, 9_998} {
		for _, place := range []string{
			`{"distribution": {"name": "starter"}, "settings": %s}`, `{"distribution": {"name": "starter"}, "providers": {"skills": %s}}`,
		} {
			body := manifest(v1alpha2.GroupVersion.Version, "deep", fmt.Sprintf(place, nested(levels, false)))
			if code, answer := s.send(t, http.MethodPost, path, body); code < http.StatusBadRequest {
				t.Errorf("%d levels: %d %s", levels, code, answer)
			}
		}
	}
	if code, answer := s.send(t, http.MethodGet, path, ""); code != http.StatusOK {
		t.Errorf("list: %d %s", code, answer)
	}
}

// precise lists the places about which another rule of the policy has a more precise message.
var precise = []string{"providers themselves", "tool"}

// tooNested is a part of the policy's message.
const tooNested = "must have at most 12 levels of objects and lists, and at most 500 entries in each of them"

// TestDeepestPodTemplate checks that the policy admits the deepest field of a pod template.
func TestDeepestPodTemplate(t *testing.T) {
	deepest := `{"volumes": [{"name": "a", "projected": {"sources": [{"clusterTrustBundle": {"path": "a", "signerName": "a.b/c", ` +
		`"labelSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a"]}]}}}]}}]}`
	s := newSender(t)
	body := manifest(v1alpha2.GroupVersion.Version, "deepest", fmt.Sprintf(places["pod template"], deepest))
	path := fmt.Sprintf(stacks, v1alpha2.GroupVersion.Version)
	if code, answer := s.send(t, http.MethodPost, path+"?dryRun=All", body); code != http.StatusCreated {
		t.Errorf("%d %s", code, answer)
	}
}

// quantities contains a specification with a quantity, for each kind of place, by version.
var quantities = map[string]map[string]string{
	v1alpha2.GroupVersion.Version: {
		"size":          `{"distribution": {"name": "starter"}, "workload": {"storage": {"size": %s}}}`,
		"limits":        `{"distribution": {"name": "starter"}, "workload": {"resources": {"limits": {"cpu": %s}}}}`,
		"requests":      `{"distribution": {"name": "starter"}, "workload": {"resources": {"requests": {"example.com/a": %s}}}}`,
		"emptyDir":      `{"distribution": {"name": "starter"}, "workload": {"overrides": {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": %s}}]}}}`,
		"divisor":       `{"distribution": {"name": "starter"}, "workload": {"overrides": {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": %s}}}]}}}`,
		"downward file": `{"distribution": {"name": "starter"}, "workload": {"overrides": {"volumes": [{"name": "a", "downwardAPI": {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu", "divisor": %s}}]}}]}}}`,
		"projected":     `{"distribution": {"name": "starter"}, "workload": {"overrides": {"volumes": [{"name": "a", "projected": {"sources": [{"downwardAPI": {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu", "divisor": %s}}]}}]}}]}}}`,
		"claim":         `{"distribution": {"name": "starter"}, "workload": {"overrides": {"volumes": [{"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": %s}}}}}}]}}}`,
		"percentage":    `{"distribution": {"name": "starter"}, "workload": {"podDisruptionBudget": {"minAvailable": %s}}}`,
	},
	v1alpha1.GroupVersion.Version: {
		"size":     `{"server": {"distribution": {"name": "starter"}, "storage": {"size": %s}}}`,
		"limits":   `{"server": {"distribution": {"name": "starter"}, "containerSpec": {"resources": {"limits": {"cpu": %s}}}}}`,
		"divisor":  `{"server": {"distribution": {"name": "starter"}, "containerSpec": {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": %s}}}]}}}`,
		"emptyDir": `{"server": {"distribution": {"name": "starter"}, "podOverrides": {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": %s}}]}}}`,
	},
}

// The API server rejects quantities that would keep it busy for minutes, even in a dry run. An exponent of five digits
// shows this as well as one of nine digits, and does no harm to an API server without the bounds.
func TestCostlyQuantities(t *testing.T) {
	convertWith(t, conversion.Handler(logr.Discard()))
	s := newSender(t)
	for version, specs := range quantities {
		for name, spec := range specs {
			for _, costly := range []string{
				`"1e-99999"`, `"1E+1000"`, `"1e0001"`,
				`"` + strings.Repeat("9", 33) + `"`, `"` + strings.Repeat("0", 200_000) + `"`,
			} {
				body := manifest(version, "costly", fmt.Sprintf(spec, costly))
				code, answer := s.send(t, http.MethodPost, fmt.Sprintf(stacks, version)+"?dryRun=All", body)
				if code != http.StatusUnprocessableEntity {
					t.Errorf("%s %s: %.20s: %d %s", version, name, costly, code, answer)
				}
			}
			if name == "percentage" {
				continue
			}
			for _, ordinary := range []string{`"1e3"`, `"10Gi"`, `"1.5"`, `2`} {
				body := manifest(version, "ordinary", fmt.Sprintf(spec, ordinary))
				code, answer := s.send(t, http.MethodPost, fmt.Sprintf(stacks, version)+"?dryRun=All", body)
				if code != http.StatusCreated {
					t.Errorf("%s %s: %s: %d %s", version, name, ordinary, code, answer)
				}
			}
		}
	}
}

// The policy also bounds the nesting of objects that are created through v1alpha1.
func TestDeepValuesOfV1alpha1(t *testing.T) {
	convertWith(t, conversion.Handler(logr.Discard()))
	s := newSender(t)
	path := fmt.Sprintf(stacks, v1alpha1.GroupVersion.Version)
	for name, spec := range map[string]string{
		"provider": `{"server": {"distribution": {"name": "starter"}, "providers": {"inference": {"provider": "vllm", "config": {"a": %s}}}}}`,
		"model":    `{"server": {"distribution": {"name": "starter"}, "resources": {"models": [{"name": "a", "metadata": {"a": %s}}]}}}`,
		"external": `{"server": {"distribution": {"name": "starter"}, "externalProviders": {"inference": [{"providerId": "a", "image": "a/b", "config": {"a": %s}}]}}}`,
	} {
		for _, levels := range []int{13, 2_000, 9_890, 9_950, 9_980} {
			body := manifest(v1alpha1.GroupVersion.Version, "deep", fmt.Sprintf(spec, nested(levels, levels == 2_000)))
			if code, answer := s.send(t, http.MethodPost, path, body); code != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d levels: %d %s", name, levels, code, answer)
			}
		}
	}
	if code, answer := s.send(t, http.MethodGet, path, ""); code != http.StatusOK {
		t.Errorf("list: %d %s", code, answer)
	}
}

// convertWith makes the API server convert stacks with a handler until the end of the test.
func convertWith(t *testing.T, handler http.Handler) {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	pair, err := tls.X509KeyPair(certificate, key)
	testutil.Must(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	before := convertAt(t, &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: certificate})
	t.Cleanup(func() { convertAt(t, before) })
	s := newSender(t)
	path := fmt.Sprintf(stacks, v1alpha1.GroupVersion.Version) + "?dryRun=All"
	body := manifest(v1alpha1.GroupVersion.Version, "probe", `{"server": {"distribution": {"name": "starter"}}}`)
	testutil.Eventually(t, "conversions", func() (bool, error) {
		code, _ := s.send(t, http.MethodPost, path, body)
		return code == http.StatusCreated, nil
	})
}

// convertAt changes the address of the conversion webhook, and returns the previous one.
func convertAt(t *testing.T, address *apiextensionsv1.WebhookClientConfig) *apiextensionsv1.WebhookClientConfig {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	definition := &apiextensionsv1.CustomResourceDefinition{}
	c := newClient(t)
	testutil.Must(t, c.Get(ctx, client.ObjectKey{Name: "llamastackdistributions.llamastack.io"}, definition))
	previous := definition.Spec.Conversion.Webhook.ClientConfig
	definition.Spec.Conversion.Webhook.ClientConfig = address
	testutil.Must(t, c.Update(ctx, definition))
	return previous
}
