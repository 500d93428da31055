//go:build node

package node

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// missingTag is a tag for which the registry has no image.
const missingTag = "0.7.1-missing"

// server returns the only pod and the status of its only container.
func server(seen cluttered) (*corev1.Pod, corev1.ContainerStatus, error) {
	if len(seen.pods) != 1 || len(seen.pods[0].Status.ContainerStatuses) != 1 {
		return nil, corev1.ContainerStatus{}, fmt.Errorf("there are %d pods, want one pod with the status of one container", len(seen.pods))
	}
	return &seen.pods[0], seen.pods[0].Status.ContainerStatuses[0], nil
}

// lastEnd returns the last termination of a container.
func lastEnd(container corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if container.LastTerminationState.Terminated != nil {
		return container.LastTerminationState.Terminated
	}
	return container.State.Terminated
}

// event returns an error if there is no event with this reason and a message that contains the given words.
func event(seen cluttered, reason, words string) error {
	var said []string
	for i := range seen.events {
		if e := &seen.events[i]; e.Reason == reason {
			if strings.Contains(e.Message, words) {
				return nil
			}
			said = append(said, e.Message)
		}
	}
	return fmt.Errorf("no event %s with %q, only %q", reason, words, said)
}

// ended returns a check that the pod's container terminated with this exit code and reason, that the kubelet restarts
// it, and that the command in the operator's message succeeds.
func ended(code, reason string) func(*scenario, cluttered, []string) error {
	return func(s *scenario, seen cluttered, said []string) error {
		_, container, err := server(seen)
		if err != nil {
			return err
		}
		last := lastEnd(container)
		if last == nil || strconv.Itoa(int(last.ExitCode)) != code || last.Reason != reason {
			return fmt.Errorf("the container ended with %+v, want exit code %s for the reason %s", last, code, reason)
		}
		if err := event(seen, "BackOff", "restarting failed container"); err != nil {
			return err
		}
		if len(said) == 0 {
			return nil
		}
		if said[0] != code {
			return fmt.Errorf("exit code %s, want %s", said[0], code)
		}
		return named(s, said[len(said)-1])
	}
}

// named runs a command from one of the operator's messages.
func named(s *scenario, command string) error {
	arguments := strings.Fields(command)
	_, err := kubectl(s.t.Context(), nil, append(arguments[1:], "--namespace="+s.namespace)...)
	return err
}

// quoted checks a server that printed a secret value. The termination message of the container contains the value, but
// the operator's messages and the events do not.
func quoted(s *scenario, seen cluttered, said []string) error {
	_, container, err := server(seen)
	if err != nil {
		return err
	}
	if last := lastEnd(container); last == nil || !strings.Contains(last.Message, canary) {
		return fmt.Errorf("the container ended with %+v, and its output does not contain the secret", last)
	}
	object := &v1alpha2.LlamaStackDistribution{}
	if err := s.get("my", object); err != nil {
		return err
	}
	for i := range seen.events {
		if strings.Contains(seen.events[i].Message, canary) {
			s.t.Errorf("an event contains the secret: %s", seen.events[i].Message)
		}
	}
	if strings.Contains(fmt.Sprintf("%+v", object.Status), canary) {
		s.t.Errorf("the status contains the secret: %+v", object.Status)
	}
	return named(s, said[1])
}

func unhealthy(s *scenario, seen cluttered, said []string) error {
	_, container, err := server(seen)
	if err != nil {
		return err
	}
	if container.RestartCount == 0 {
		return errors.New("the container was not restarted")
	}
	if err := event(seen, "Killing", "failed startup probe, will be restarted"); err != nil {
		return err
	}
	return named(s, said[0])
}

func runningUnready(_ *scenario, seen cluttered, _ []string) error {
	_, container, err := server(seen)
	if err != nil {
		return err
	}
	if container.State.Running == nil || container.Ready || container.RestartCount > 0 {
		return fmt.Errorf("the container is %+v, want it running, not ready, and without a restart", container)
	}
	return event(seen, "Unhealthy", "Startup probe failed")
}

func notPulled(s *scenario, seen cluttered, said []string) error {
	_, container, err := server(seen)
	if err != nil {
		return err
	}
	if container.Image != said[0] || container.State.Waiting == nil ||
		container.State.Waiting.Reason != "ImagePullBackOff" && container.State.Waiting.Reason != "ErrImagePull" {
		return fmt.Errorf("the container of image %s waits for %+v", container.Image, container.State.Waiting)
	}
	if err := event(seen, "Failed", "not found"); err != nil {
		return err
	}
	return named(s, said[1])
}

func notScheduled(_ *scenario, seen cluttered, said []string) error {
	if len(seen.pods) != 1 || seen.pods[0].Name != said[0] || seen.pods[0].Spec.NodeName != "" {
		return fmt.Errorf("pods %v, want %s without a node", seen.pods, said[0])
	}
	return event(seen, "FailedScheduling", said[1])
}

func notCreated(_ *scenario, seen cluttered, said []string) error {
	if len(seen.pods) != 0 {
		return fmt.Errorf("%d pods", len(seen.pods))
	}
	// Each attempt uses a different pod name. The text after the name is always the same.
	_, words, _ := strings.Cut(said[0], " is forbidden: ")
	return event(seen, "FailedCreate", words)
}

func unbound(s *scenario, seen cluttered, said []string) error {
	claim := &corev1.PersistentVolumeClaim{}
	if err := s.get(said[0], claim); err != nil {
		return err
	}
	if claim.Status.Phase != corev1.ClaimPending {
		return fmt.Errorf("the claim is %s", claim.Status.Phase)
	}
	return event(seen, "ProvisioningFailed", said[1])
}
