//go:build node && all

package node

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// streaming is a stack with one replica and a volume, so the pod must stop before the next pod starts.
const streaming = `
distribution: {name: starter, version: "` + realRelease + `"}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama3.2-8b]}
workload: {preflight: Never, resources: ` + realRequests + `, storage: {size: 1Gi}, overrides: {env: [{name: ROUND, value: %q}]}}
`

// A streamed answer arrives in full even though a rollout stops the server, because the server exits only after it has
// sent the answer.
func TestStreamDuringARollOut(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease)
	s.apply(fmt.Sprintf(programService, "vllm", 8000))
	s.program("vllm", standIn(defaultRelease), "/standin, vllm", "{name: VLLM_API_KEY, value: sk-real}, {name: VLLM_PAUSE, value: 10s}",
		"{httpGet: {path: /health, port: 8000}, periodSeconds: 1, timeoutSeconds: 10}")
	s.apply(secret("vllm-creds", "token", "sk-real") + stack("my", fmt.Sprintf(streaming, "one")))
	c := s.client()
	before := s.settled("my", 1)[0]
	c.chat(s.service("my"), "vllm/llama3.2-8b")

	type outcome struct {
		said string
		err  error
	}
	answered := make(chan outcome, 1)
	go func() {
		said, err := c.call("post", "-timeout=2m", s.service("my")+"/v1/chat/completions",
			`{"model": "vllm/llama3.2-8b", "stream": true, "messages": [{"role": "user", "content": "hello"}]}`)
		answered <- outcome{said, err}
	}()
	s.eventually(func() error {
		if log := s.kubectl("logs", "vllm"); !strings.Contains(log, "streams ") {
			return fmt.Errorf("the model server does not stream an answer:\n%s", log)
		}
		return nil
	})
	s.apply(stack("my", fmt.Sprintf(streaming, "two")))
	var ending corev1.Pod
	s.untilPods("my", func(pods []corev1.Pod) error {
		for i := range pods {
			if pods[i].UID == before.UID && pods[i].DeletionTimestamp != nil {
				ending = pods[i]
				return nil
			}
		}
		return fmt.Errorf("pod %s does not get the signal to end", before.Name)
	})
	select {
	case early := <-answered:
		t.Fatalf("the answer arrived before the pod %s got the signal to end, so the test is inconclusive: %v, %s", ending.Name, early.err, early.said)
	default:
	}
	got := <-answered
	if got.err != nil || !strings.HasPrefix(got.said, "200\n") || !strings.Contains(got.said, `"finish_reason":"stop"`) {
		t.Errorf("the stream was interrupted: %v\n%s", got.err, got.said)
	}
	for word := range strings.FieldsSeq("hello from the model") {
		if !strings.Contains(got.said, word) {
			t.Errorf("the stream does not contain %q:\n%s", word, got.said)
		}
	}
	if after := s.settled("my", 1)[0]; after.UID == before.UID {
		t.Error("no other pod started")
	}
}
