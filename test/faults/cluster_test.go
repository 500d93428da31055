package faults_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// patience is the time limit for a stack to reach the intended state after a fault.
	patience = time.Minute
	// version is the version that the operator reports.
	version = "faults"
)

// cluster is an API server with the controllers that act on the objects of a stack. Its kubelet makes every pod ready.
type cluster struct {
	*testutil.Cluster

	program string
	etcd    *slope
	// gates contains the gates of all operators that were started.
	gates []*gate
	// All stacks have a server with the same certificate and key, and the same base configuration, baseConfig.
	certificate, key []byte
	baseConfig       string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{program: testutil.BuildOperator(t, version)}
	c.certificate, c.key = testutil.NewCertificate(t, time.Now().Add(180*24*time.Hour))
	starter, err := distribution.Resolve("starter", "", "", nil)
	testutil.Must(t, err)
	c.baseConfig = string(starter.Base)
	ctrl.SetLogger(logr.Discard())
	c.Cluster = testutil.StartCluster(t, testutil.Options{
		CertDir: t.TempDir(),
		EtcdThrough: func(etcd string) (string, error) {
			c.etcd = newSlope(t, etcd)
			return c.etcd.listener.Addr().String(), nil
		},
	})
	testutil.Must(t, c.Plane.InstallRights())
	c.makeDigestKey(t)
	testutil.RunControllers(t, c.Kubeconfig, []string{
		"deployment-controller", "replicaset-controller", "garbage-collector-controller", "resourcequota-controller",
	})
	c.RunKubelet(t, ready)
	return c
}

// makeDigestKey sets the key for digests of secret values. The key is the same in every run, because the recorded
// objects of an older operator contain such digests.
func (c *cluster) makeDigestKey(t *testing.T) {
	t.Helper()
	key := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: names.OperatorNamespace, Name: names.DigestKeySecret},
		StringData: map[string]string{"key": strings.Repeat("no secret ", 4)},
	}
	testutil.Must(t, c.Create(t.Context(), key))
}

// calm removes the rules of all gates, and resets their write counts.
func (c *cluster) calm() {
	for _, gate := range c.gates {
		gate.set(nil)
	}
}

// written returns the number of writes by all operators.
func (c *cluster) written() int {
	written := 0
	for _, gate := range c.gates {
		written += gate.written()
	}
	return written
}

// ready returns the state of a pod that serves requests.
func ready(pod *corev1.Pod) *corev1.PodStatus {
	return &corev1.PodStatus{
		Phase: corev1.PodRunning,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		}},
	}
}

// eventually polls until the function check returns nil, and returns the elapsed time. It fails the test if this takes
// longer than the constant `patience`.
func eventually(t *testing.T, what string, check func() error) time.Duration {
	t.Helper()
	return testutil.Within(t, patience, func() error {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}

// differ returns an error with a difference, or nil if the difference is empty.
func differ(what, difference string) error {
	if difference == "" {
		return nil
	}
	return fmt.Errorf("%s (-want +got):\n%s", what, difference)
}
