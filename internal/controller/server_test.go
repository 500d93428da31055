package controller_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// servers replaces the servers of every stack.
type servers struct {
	version   atomic.Pointer[string]
	providers atomic.Pointer[string]
	models    atomic.Pointer[string]
	requests  atomic.Int32
}

// ServeHTTP returns the version, the providers and the models. If the version is empty, it requires authentication for each, as
// servers of release 0.2 do.
func (s *servers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	version, providers, models := *s.version.Load(), *s.providers.Load(), *s.models.Load()
	switch {
	case r.URL.Path == "/v1/version" && version != "":
		fmt.Fprintf(w, `{"version": %q}`, version)
	case r.URL.Path == "/v1/providers" && providers != "":
		fmt.Fprint(w, providers)
	case r.URL.Path == "/v1/models" && models != "":
		fmt.Fprint(w, models)
	default:
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// serve makes the test's stacks have servers of this version, with the certificate of the Secret if there is one.
func (b *bench) serve(t *testing.T, version string, certificate ...*corev1.Secret) *servers {
	t.Helper()
	s := &servers{}
	s.version.Store(&version)
	s.providers.Store(new(`{"data": []}`))
	s.models.Store(new(`{"data": []}`))
	server := httptest.NewUnstartedServer(s)
	if len(certificate) == 0 {
		server.Start()
	} else {
		pair, err := tls.X509KeyPair(certificate[0].Data[corev1.TLSCertKey], certificate[0].Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			t.Fatal(err)
		}
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that reject the certificate close the connection
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	b.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return s
}

// serverVersion waits until the status has the version that the server reports.
func (b *bench) serverVersion(t *testing.T, stack, version string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	eventually(t, func() error {
		b.get(t, stack, object)
		if v := object.Status.Version; v == nil || v.LlamaStackServerVersion != version {
			return fmt.Errorf("version %+v, want %q", v, version)
		}
		return nil
	})
	return object
}

// TestServerVersion checks that the running server is asked once for each complete roll-out. Its answer causes one
// status write. A restart of the operator writes nothing.
func TestServerVersion(t *testing.T) {
	b := newBench(t)
	asked := b.serve(t, "0.7.1")
	first := b.start(t, "version")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.settled(t, "version")
	if got := asked.requests.Load(); got != 0 {
		t.Errorf("%d requests to a server without a pod", got)
	}
	before := len(b.settled(t, "version"))
	b.rollOut(t, "my")
	stack := b.serverVersion(t, "my", "0.7.1")
	seen := b.settled(t, "version")
	transition := "patch llamastackdistributions status my"
	if diff := cmp.Diff([]string{transition, transition}, seen[before:]); diff != "" {
		t.Errorf("calls of a roll-out and a version (-want +got):\n%s", diff)
	}
	if got := b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed); strings.Contains(got.Message, "release") {
		t.Errorf("message %q of a server as expected", got.Message)
	}
	if stack.Status.Version.LastUpdated == nil {
		t.Error("the version has no date")
	}
	first.stop(t)
	b.start(t, "version")
	eventually(t, func() error {
		if got := asked.requests.Load(); got != 6 {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	if now := b.settled(t, "version"); len(now) != len(seen) {
		t.Errorf("calls of a restart: %v", now[len(seen):])
	}
	if got := asked.requests.Load(); got != 6 {
		t.Errorf("%d requests, want three for the roll-out and three for the restart", got)
	}
}

// TestServerReleaseDiffers checks that a server of another release than its configuration is reported in the status and
// in an event, with the remedy, and that the report disappears when the remedy is followed.
func TestServerReleaseDiffers(t *testing.T) {
	b := newBench(t)
	b.configured = true
	asked := b.serve(t, "1.9.2")
	b.start(t, "differs")
	b.configure(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:mine")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [llama]}}`))
	b.image(t, "my", "mirror.example.com/starter:mine", v1alpha2.ImageFromOperatorConfig)
	b.rollOut(t, "my")
	b.serverVersion(t, "my", "1.9.2")
	expect := func(remedy string) {
		t.Helper()
		eventually(t, func() error {
			condition := b.condition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded)
			if condition.Status != metav1.ConditionTrue || !strings.HasPrefix(condition.Message, "Generated config.yaml with ") ||
				!strings.HasSuffix(condition.Message, remedy) {
				return fmt.Errorf("condition %+v, want %q", condition, remedy)
			}
			return nil
		})
		b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	}
	note := "the server has release 1.9.2, but its configuration is for release 0.7: this operator supports the releases " + strings.Join(release.Offered(), ", ")
	expect("; " + note)
	var notes []string
	for _, event := range b.events(t) {
		if event.Reason == v1alpha2.EventServerReleaseDiffers {
			notes = append(notes, event.Type+" "+event.Note)
		}
	}
	if diff := cmp.Diff([]string{"Warning " + note}, notes); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	version := "0.7.3"
	asked.version.Store(&version)
	b.configure(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:0.7.3")
	b.image(t, "my", "mirror.example.com/starter:0.7.3", v1alpha2.ImageFromOperatorConfig)
	b.serverVersion(t, "my", "") // the pods of the new image are starting
	b.rollOut(t, "my")
	b.serverVersion(t, "my", "0.7.3")
	expect("1 model")
}

// TestServerDoesNotTell checks that a server that does not report its version is not a problem, and that it is not
// asked forever.
func TestServerDoesNotTell(t *testing.T) {
	b := newBench(t)
	asked := b.serve(t, "")
	b.start(t, "silent")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.settled(t, "silent")
	if got := asked.requests.Load(); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	if stack := b.serverVersion(t, "my", ""); stack.Status.Phase != v1alpha2.PhaseReady {
		t.Errorf("phase %q", stack.Status.Phase)
	}
}

// onNode creates a pod of the ReplicaSet on a node, so that it stays while it terminates. Its server runs the image.
func (b *bench) onNode(t *testing.T, set *appsv1.ReplicaSet, image string) *corev1.Pod {
	t.Helper()
	set.Spec.Template.Spec.NodeName = "node"
	return b.pod(t, set, runs(image, corev1.ConditionTrue))
}

// runs returns the status of a pod whose server runs the image.
func runs(image string, ready corev1.ConditionStatus) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "llama-stack", ImageID: image, Ready: ready == corev1.ConditionTrue, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
}

// TestServerBesideTheOneBefore checks that no server is asked while a previous pod still terminates and can answer,
// although the Deployment is complete. The new server is asked once the previous one has stopped.
func TestServerBesideTheOneBefore(t *testing.T) {
	b := newBench(t)
	asked := b.serve(t, "0.7.3")
	b.start(t, "beside")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter, version: "0.7"}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	before := b.onNode(t, b.revision(t, "my", "1", appsv1.ReplicaSetStatus{}), "image@sha256:7")
	b.rollOut(t, "my")
	b.serverVersion(t, "my", "0.7.3")

	b.patch(t, "my", func(s *v1alpha2.LlamaStackDistribution) { s.Spec.Distribution.Version = "0.8" })
	b.serverVersion(t, "my", "")
	b.onNode(t, b.revision(t, "my", "2", appsv1.ReplicaSetStatus{}), "image@sha256:8")
	requests := asked.requests.Load()
	if err := b.Delete(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	b.rollOutAtGeneration(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.settled(t, "beside")
	if got := asked.requests.Load(); got != requests {
		t.Errorf("%d requests while the pod of 0.7.3 may answer", got-requests)
	}
	b.serverVersion(t, "my", "")
	version := "0.8.0"
	asked.version.Store(&version)
	b.kubelet(t, before, runs("image@sha256:7", corev1.ConditionFalse))
	b.serverVersion(t, "my", version)
}

// TestServerOfAMovedTag checks that the server is asked again when a node pulls the image again and gets another one,
// because its tag has moved.
func TestServerOfAMovedTag(t *testing.T) {
	b := newBench(t)
	asked := b.serve(t, "0.7.2")
	b.start(t, "moved")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	pod := b.onNode(t, b.revision(t, "my", "1", appsv1.ReplicaSetStatus{}), "image@sha256:2")
	b.rollOut(t, "my")
	b.serverVersion(t, "my", "0.7.2")
	b.settled(t, "moved")
	requests := asked.requests.Load()
	version := "0.7.3"
	asked.version.Store(&version)
	b.kubelet(t, pod, runs("image@sha256:3", corev1.ConditionTrue))
	b.serverVersion(t, "my", version)
	b.settled(t, "moved")
	if got := asked.requests.Load(); got != requests+3 {
		t.Errorf("%d requests for the pod's new image, want 3", got-requests)
	}
}
