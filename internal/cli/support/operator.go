package support

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/installation"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// addAnswer adds an object that readFacts has read, or records the reason why readFacts has not read it.
func addAnswer[T interface {
	comparable
	client.Object
}](c *collector, what string, answer installation.Answer[T],
) {
	var none T
	if answer.Problem != "" {
		c.left(what + ": " + answer.Problem)
	}
	if answer.Value != none {
		c.addTyped(answer.Value)
	}
}

// operator adds the operator's objects that readFacts has read. For each Deployment of an operator, it also adds the
// pods with their logs, the events in the namespace, and the Secret with the webhook certificate.
func (c *collector) operator(ctx context.Context, facts *installation.Facts) {
	addAnswer(c, "the CustomResourceDefinition", facts.Definition)
	addAnswer(c, "the validating webhook", facts.Webhook)
	addAnswer(c, "the admission policy", facts.Policy)
	addAnswer(c, "the admission policy binding", facts.Binding)
	addAnswer(c, "the operator's ConfigMap", facts.Config)
	if problem := facts.Operators.Problem; problem != "" {
		c.left("the operator: " + problem)
	}
	for i := range facts.Operators.Value {
		operator := &facts.Operators.Value[i]
		c.addTyped(operator)
		for _, container := range operator.Spec.Template.Spec.Containers {
			c.material.Versions[fmt.Sprintf("operator %s/%s", operator.Namespace, container.Name)] = container.Image
		}
		// Anyone can give a Deployment the labels of the operator. The logs of its pods can be logs of servers.
		if operator.Spec.Selector == nil || operator.Namespace != facts.Namespace {
			continue
		}
		pods := c.list(ctx, podKind, operator.Namespace, operator.Spec.Selector.MatchLabels)
		for j := range pods {
			c.add(&pods[j])
			c.logs(ctx, &pods[j])
		}
		c.events(ctx, operator.Namespace, func(*corev1.ObjectReference) bool { return true })
		c.get(ctx, secretKind, operator.Namespace, names.WebhookCertificateSecret)
	}
}

// logs adds the logs of a pod's containers, including the logs from before their last restart.
func (c *collector) logs(ctx context.Context, object *unstructured.Unstructured) {
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
		c.left(fmt.Sprintf("the logs of pod %s/%s: %v", object.GetNamespace(), object.GetName(), err))
		return
	}
	restarted := map[string]bool{}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		restarted[status.Name] = status.RestartCount > 0
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		c.log(ctx, &pod, container.Name, false)
		if restarted[container.Name] {
			c.log(ctx, &pod, container.Name, true)
		}
	}
}

// log adds the end of a container's log.
func (c *collector) log(ctx context.Context, pod *corev1.Pod, container string, previous bool) {
	if c.logged > MaxBytes {
		c.left("the logs of other containers: the archive would be too large; name fewer stacks")
		return
	}
	lines, most := int64(MaxLogLines), int64(MaxLogBytes)
	stream, err := c.core.Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: container, Previous: previous, TailLines: &lines, Timestamps: true,
	}).Stream(ctx)
	if err == nil {
		defer stream.Close()
		var text []byte
		if text, err = readEnd(stream, most); err == nil {
			c.logged += len(text)
			c.material.Logs = append(c.material.Logs, Log{
				Namespace: pod.Namespace, Pod: pod.Name, Container: container, Previous: previous, Text: string(text),
			})
			return
		}
	}
	if apierrors.IsForbidden(err) {
		c.left(fmt.Sprintf("logs: %v", kube.Explain(err, "get", schema.GroupResource{Resource: "pods/log"}, pod.Namespace)))
		return
	}
	c.left(fmt.Sprintf("the log of container %q in pod %s/%s: %v", container, pod.Namespace, pod.Name, err))
}

// readEnd returns the end of a stream. If it drops earlier bytes, the result is longer than `most`, so that package
// support recognizes an incomplete log.
func readEnd(stream io.Reader, most int64) ([]byte, error) {
	var kept []byte
	part := make([]byte, 64<<10)
	for {
		n, err := stream.Read(part)
		kept = append(kept, part[:n]...)
		if over := int64(len(kept)) - 2*most; over > 0 {
			kept = append([]byte(nil), kept[int64(len(kept))-most-1:]...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return kept, nil
		case err != nil:
			return nil, err
		}
	}
}
