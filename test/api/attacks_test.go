package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// sender sends requests as bytes, because a client cannot encode the objects of an attacker.
type sender struct {
	*http.Client
	host string
}

func newSender(t testing.TB) sender {
	t.Helper()
	client, err := rest.HTTPClientFor(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	return sender{client, strings.TrimSuffix(plane.Config.Host, "/")}
}

// stacks is the path of the stacks in a namespace.
const stacks = "/apis/llamastack.io/%s/namespaces/default/llamastackdistributions"

// send returns the status code and the beginning of the answer to a request.
func (s sender) send(t testing.TB, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
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
				if code, answer := s.send(t, http.MethodPost, path+"?dryRun=All", body); code != http.StatusUnprocessableEntity {
					t.Errorf("%s: %d levels: %d %s", name, levels, code, answer)
				}
			}
		}
	}
	// These depths are stored without the policy: the first breaks every list, and the second every client.
	for _, levels := range []int{9_994, 9_998} {
		body := manifest(v1alpha2.GroupVersion.Version, "deep", `{"distribution": {"name": "starter"}, "settings": `+nested(levels, false)+`}`)
		if code, answer := s.send(t, http.MethodPost, path, body); code < http.StatusBadRequest {
			t.Errorf("settings with %d levels: %d %s", levels, code, answer)
		}
	}
	if code, answer := s.send(t, http.MethodGet, path, ""); code != http.StatusOK {
		t.Errorf("list: %d %s", code, answer)
	}
	_ = v1alpha1.Kind
}
