//go:build node

package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// The commands that run before the server starts are in a ConfigMap. If a user deletes the ConfigMap, the operator
// creates it again. If a user edits it, the operator reverts the edit. Pods do not restart, and the next pod can mount
// the ConfigMap.
func TestStartupConfigMap(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", fmt.Sprintf(serving, "first", "")))
	s.ready("my")
	before, deployed := s.onePod("my"), s.deploymentGeneration("my")
	name := names.Startup("my")
	was := &corev1.ConfigMap{}
	if err := s.get(name, was); err != nil {
		t.Fatal(err)
	}
	back := func(what string) {
		t.Helper()
		s.eventually(func() error {
			now := &corev1.ConfigMap{}
			if err := s.get(name, now); err != nil {
				return err
			}
			if now.Data[names.RegistryProgram] != was.Data[names.RegistryProgram] || was.Data[names.RegistryProgram] == "" {
				return errors.New(what + ": the ConfigMap does not contain the original program")
			}
			return nil
		})
	}
	s.kubectl("delete", "configmap", name)
	back("deleted")
	s.kubectl("patch", "configmap", name, "--type=merge",
		fmt.Sprintf("--patch={\"data\": {%q: \"print('mine')\"}}", names.RegistryProgram))
	back("edited")
	if now := s.onePod("my"); now.UID != before.UID || now.Status.ContainerStatuses[0].RestartCount != 0 || !isReady(now) {
		t.Error("the pod was replaced or restarted")
	}
	if now := s.deploymentGeneration("my"); now != deployed {
		t.Errorf("the Deployment has generation %d, want %d as before", now, deployed)
	}
	if command := strings.Join(before.Spec.Containers[0].Command, " "); !strings.Contains(command, names.RegistryProgram) {
		t.Errorf("the server's container runs %q", command)
	}
	s.kubectl("delete", "pod", before.Name)
	s.eventually(func() error {
		if now := s.onePod("my"); now.UID == before.UID || !isReady(now) {
			return errors.New("no new pod is ready")
		}
		return nil
	})
}

// deploymentGeneration returns the generation of a stack's Deployment. The generation increases with every change to
// the Deployment's spec.
func (s *scenario) deploymentGeneration(stack string) int64 {
	s.t.Helper()
	deployment := &appsv1.Deployment{}
	if err := s.get(names.Deployment(stack), deployment); err != nil {
		s.t.Fatal(err)
	}
	return deployment.Generation
}
