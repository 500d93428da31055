//go:build node

package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// programPod is the manifest of a pod that runs a command from its image, with the security context that a restricted
// namespace requires.
const programPod = `
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, labels: {app: %[1]s}}
spec:
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 1001, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    image: %[2]s
    command: [%[3]s]
    env: [%[4]s]
    resources: ` + small + `
    readinessProbe: %[5]s
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// clientPod is a pod that sends requests, as a user's program does.
type clientPod struct {
	*scenario
	name string
	// options are the options for each call.
	options []string
}

func (s *scenario) client() clientPod {
	s.t.Helper()
	s.program("client", standIn(defaultRelease), "/standin, idle", "", "null")
	return clientPod{s, "client", nil}
}

// program starts a pod and waits until it is ready. The command, the environment and the probe are in YAML.
func (s *scenario) program(name, image, command, environment, probe string) {
	s.t.Helper()
	s.apply(fmt.Sprintf(programPod, name, image, command, environment, probe))
	s.kubectl("wait", "--for=condition=Ready", "pod/"+name, fmt.Sprintf("--timeout=%.0fs", s.patience.Seconds()))
}

const programService = `
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec: {selector: {app: %[1]s}, ports: [{port: %[2]d}]}
`

// models starts a model server at http://<name>:8000. The server requires a token and lists these models, or
// llama3.2-8b if none are given.
func (s *scenario) models(name, token string, listed ...string) {
	s.t.Helper()
	s.modelsWith(name, token, "", listed...)
}

// modelsWith starts a model server with additional environment variables, which are in YAML.
func (s *scenario) modelsWith(name, token, variables string, listed ...string) {
	s.t.Helper()
	environment := fmt.Sprintf("{name: VLLM_API_KEY, value: %q}, {name: VLLM_MODELS, value: %q}, %s", token,
		strings.Join(listed, ","), variables)
	s.apply(fmt.Sprintf(programService, name, 8000))
	s.program(name, standIn(defaultRelease), "/standin, vllm", environment,
		"{httpGet: {path: /health, port: 8000}, periodSeconds: 1, timeoutSeconds: 10}")
}

// service returns the URL of a stack in the cluster.
func (s *scenario) service(stack string) string {
	return fmt.Sprintf("http://%s.%s.svc:8321", names.Service(stack), s.namespace)
}

// standin runs a command from the client's image in the client's pod.
func (c clientPod) standin(arguments ...string) (string, error) {
	return kubectl(c.t.Context(), nil, append([]string{"exec", "--namespace=" + c.namespace, c.name, "--", "/standin"},
		arguments...)...)
}

// ask waits until a server answers a request, and decodes the response. A node begins to route requests to a pod only
// some time after the API server shows the pod as ready.
func (c clientPod) ask(url string, into any) {
	c.t.Helper()
	c.eventually(func() error { return c.try(url, into) })
}

// call runs a command that sends a request to a server, with the client's options.
func (c clientPod) call(command string, arguments ...string) (string, error) {
	return c.standin(slices.Concat([]string{command}, c.options, arguments)...)
}

// try sends a GET request to a server and decodes the response.
func (c clientPod) try(url string, into any) error {
	text, err := c.call("get", url)
	if err != nil {
		return err
	}
	return decode(url, text, into)
}

func decode(url, text string, into any) error {
	body, found := strings.CutPrefix(text, "200\n")
	if !found {
		return fmt.Errorf("%s answers %s", url, text)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		return fmt.Errorf("read answer of %s: %w", url, err)
	}
	return nil
}

// listed returns the entries in the list at a URL. The parameter `key` is the name of the field that identifies an
// entry.
func (c clientPod) listed(url, key string) map[string]map[string]any {
	c.t.Helper()
	var answer struct {
		Data []map[string]any `json:"data"`
	}
	c.ask(url, &answer)
	entries := map[string]map[string]any{}
	for _, entry := range answer.Data {
		if id, ok := entry[key].(string); ok {
			entries[id] = entry
		}
	}
	return entries
}

// provider waits until the server has a provider with these settings. It waits because the old server may still respond
// for a short time after a rollout.
func (c clientPod) provider(url, id string, settings map[string]any) {
	c.t.Helper()
	c.eventually(func() error {
		providers := c.listed(url+"/v1/providers", "provider_id")
		got, _ := providers[id]["config"].(map[string]any)
		if diff := cmp.Diff(settings, got); providers[id] == nil || diff != "" {
			return fmt.Errorf("provider %q of %d: settings (-want +got):\n%s", id, len(providers), diff)
		}
		return nil
	})
}

// post waits until a server accepts a JSON object, and returns the response.
func (c clientPod) post(url, body string) map[string]any {
	c.t.Helper()
	var answer map[string]any
	c.eventually(func() error {
		text, err := c.call("post", "-timeout=30s", url, body)
		if err != nil {
			return err
		}
		return decode(url, text, &answer)
	})
	return answer
}

const question = `{"model": %q, "messages": [{"role": "user", "content": "hello"}]}`

// chat waits until a model answers through the stack.
func (c clientPod) chat(url, model string) {
	c.t.Helper()
	c.answers(url, model, "hello from the model")
}

// answers sends a question to a model until the answer is the expected text.
func (c clientPod) answers(url, model, want string) {
	c.t.Helper()
	c.eventually(func() error {
		var answer struct {
			Choices []struct {
				Message struct {
					Content string `json:"content"`
				} `json:"message"`
			} `json:"choices"`
		}
		text, err := c.call("post", "-timeout=30s", url+"/v1/chat/completions", fmt.Sprintf(question, model))
		if err == nil {
			err = decode(url, text, &answer)
		}
		if err != nil {
			return err
		}
		if len(answer.Choices) != 1 || answer.Choices[0].Message.Content != want {
			return fmt.Errorf("the answer of the model is %s", text)
		}
		return nil
	})
}
