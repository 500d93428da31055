//go:build node && all && own

package node

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The node loses power and recovers. Every pod still exists, its containers are started again, and its volume is the
// same. This also applies to the two operator pods, one of which becomes the leader. The operator does not write the
// objects of the stacks. The test does not run in parallel with other scenarios. It has its own build tag, so that it
// runs only on a node that test/cluster runs, and never restarts any other node.
func TestNodeRestart(t *testing.T) {
	s := newScenario(t)
	stacks := []string{"plain", "kept"}
	s.apply(stack("plain", fmt.Sprintf(serving, "first", "")) + stack("kept", withVolume))
	for _, name := range stacks {
		s.ready(name)
	}
	s.kubectl("exec", "deployment/kept", "--", "/bin/mkdir", "/.llama/kept")
	pods, operators := map[string]*corev1.Pod{}, operatorPods(t)
	for _, name := range stacks {
		pods[name] = s.onePod(name)
	}
	was := s.children()
	restarted := time.Now()
	command := exec.CommandContext(t.Context(), filepath.Join(testutil.Root(), ".cache", "bin", "cluster"), "restart-node")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}

	for i := range operators {
		s.eventually(func() error { return startedAgain(t, &operators[i]) })
	}
	for _, name := range stacks {
		s.eventually(func() error { return startedAgain(t, pods[name]) })
		s.ready(name)
		s.onePod(name)
	}
	s.kubectl("exec", "deployment/kept", "--", "/bin/sh", "-c", "cd /.llama/kept")
	s.eventually(func() error { return ledSince(t, restarted) })
	if diff := cmp.Diff(was, s.children()); diff != "" {
		t.Errorf("objects of the stacks before and after the restart (-want +got):\n%s", diff)
	}
	s.apply(stack("plain", fmt.Sprintf(serving, "second", "")))
	s.ready("plain")
	s.allReady("plain", 1, string(pods["plain"].UID))
}

// startedAgain returns an error until the same pod has a new container and is ready.
func startedAgain(t *testing.T, before *corev1.Pod) error {
	t.Helper()
	now := &corev1.Pod{}
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(before), now); err != nil {
		return err
	}
	if now.UID != before.UID {
		return fmt.Errorf("pod %s was replaced", now.Name)
	}
	if len(now.Status.ContainerStatuses) != 1 ||
		now.Status.ContainerStatuses[0].ContainerID == before.Status.ContainerStatuses[0].ContainerID {
		return fmt.Errorf("the container of pod %s was not restarted", now.Name)
	}
	if !isReady(now) {
		return fmt.Errorf("pod %s is not ready", now.Name)
	}
	return nil
}

// ledSince returns an error until an operator pod has acquired the lease after the given time.
func ledSince(t *testing.T, since time.Time) error {
	t.Helper()
	if _, err := leader(t); err != nil {
		return err
	}
	lease := &coordinationv1.Lease{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: names.OperatorNamespace, Name: names.LeaderElectionID},
		lease); err != nil {
		return err
	}
	if lease.Spec.AcquireTime == nil || !lease.Spec.AcquireTime.After(since) {
		return fmt.Errorf("no pod has acquired the lease after the restart: %+v", lease.Spec)
	}
	return nil
}
