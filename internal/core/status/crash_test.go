package status_test

import (
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// saidOf returns the message of the condition Available for a pod with this container, without the number of available
// replicas.
func saidOf(t *testing.T, container corev1.ContainerStatus) string {
	t.Helper()
	got := status.Workload(status.WorkloadInput{
		Deployment: deployment(1, 1, 1, 0),
		Pods:       []corev1.Pod{pod("p", container)},
	}).Available
	if got.Reason != "RolloutFailed" {
		t.Errorf("reason %s", got.Reason)
	}
	return strings.TrimPrefix(got.Message, "0/1 replicas available with current config: ")
}

func ended(code int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message},
	}}
}

func TestCrash(t *testing.T) {
	const logs = "; see kubectl logs p -c llama-stack --previous"
	for _, tc := range []struct {
		name, want string
		container  corev1.ContainerStatus
	}{
		{
			"the most specific exception of a chain",
			`container "llama-stack" crashed with InvalidPasswordError: PostgreSQL rejects the password; check the Secret that contains the connection string` + logs,
			ended(0, "Completed", "asyncpg.exceptions.InvalidPasswordError: password authentication failed for user \"u\"\n\n"+
				"The above exception was the direct cause\nRuntimeError: Could not connect to PostgreSQL database server\n"),
		},
		{
			"a rejected value",
			`container "llama-stack" crashed with ValidationError: the server rejects its configuration; correct the value that the error names, or restore the earlier spec` + logs,
			ended(1, "Error", "pydantic_core._pydantic_core.ValidationError: 1 validation error\n  Input [type=x, input_value='sk-1', input_type=str]"),
		},
		{
			"the newest of two crashes", `container "llama-stack" crashed with exit code 2` + logs,
			corev1.ContainerStatus{
				State:                ended(2, "Error", "").LastTerminationState,
				LastTerminationState: ended(1, "Error", "KeyError: 'a'").LastTerminationState,
			},
		},
		{"a general exception", `container "llama-stack" crashed with KeyError` + logs, ended(1, "Error", "KeyError: 'sk-1'")},
		{"an unknown exception", `container "llama-stack" crashed with exit code 1` + logs, ended(1, "Error", "sk1Error: sk-1")},
		{"not the last line of a traceback", `container "llama-stack" crashed with exit code 1` + logs, ended(1, "Error", "log: ValueError: sk-1")},
		{
			"killed", `container "llama-stack" was stopped (exit code 137), possibly because its health check did not pass in time` + logs,
			ended(137, "Error", ""),
		},
		{
			"the runtime cannot start the container", `container "llama-stack" cannot be started: exec: "serve": executable file not found in $PATH`,
			ended(128, "StartError", `exec: "serve": executable file not found in $PATH`),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := saidOf(t, tc.container); got != tc.want {
				t.Errorf("message:\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// FuzzCrashShowsNothing checks that messages contain only known names from the output of a container.
func FuzzCrashShowsNothing(f *testing.F) {
	for _, seed := range []string{"ValueError: sk-1", "a.b.KeyError\nTypeError: x", "input_value='secret'", "", "\xff:"} {
		f.Add(seed, int32(1))
	}
	known := regexp.MustCompile(`^container "llama-stack" (crashed with ([A-Za-z]+(: [^:;]+(; [^;:]+)?)?|exit code -?\d+)|ended with exit code 0[^;]*|was stopped \(exit code \d+\)[^;]*); see kubectl logs p -c llama-stack --previous$`)
	f.Fuzz(func(t *testing.T, message string, code int32) {
		got := saidOf(t, ended(code, "Error", message))
		if !known.MatchString(got) {
			t.Errorf("message %q", got)
		}
		if marked := saidOf(t, ended(code, "Error", message+"\ncAnArY-1: cAnArY-2")); strings.Contains(marked, "cAnArY") {
			t.Errorf("message %q", marked)
		}
	})
}

func TestImagePull(t *testing.T) {
	for _, tc := range []struct{ name, image, reason, message, want string }{
		{
			"no such image", "example.com/a:1", "ErrImagePull", "rpc error: example.com/a:1: not found",
			": the registry does not have the image; check the name and the tag of the image",
		},
		{"credentials", "example.com/a:1", "ImagePullBackOff", "401 Unauthorized at https://u:pw@example.com", ": the registry requires credentials, or rejects the credentials; add a valid pull Secret to spec.workload.overrides.imagePullSecrets"},
		{"processor", "example.com/a:1", "ErrImagePull", "no match for platform in manifest: not found", ": the image is not built for the node's processor architecture; use an image for this architecture, or select other nodes"},
		{"name", "Example:::", "InvalidImageName", "could not parse", ": the image reference is not valid; correct the image reference"},
		{"never", "example.com/a:1", "ErrImageNeverPull", "", ": the image is not on the node, and spec.workload.overrides.imagePullPolicy is Never; load the image onto the node, or remove the field"},
		{"unknown", "example.com/a:1", "ErrImagePull", "sk-1", ""},
		{
			"moved", "docker.io/llamastack/distribution-starter:latest", "ErrImagePull", "pull access denied, repository does not exist or may require authorization",
			": the registry does not have the image, or requires credentials; check the name of the image, or add a pull Secret to spec.workload.overrides.imagePullSecrets" +
				`; the images in docker.io/llamastack moved to docker.io/ogxai: set spec.distribution.image to "docker.io/ogxai/distribution-starter:<release>"`,
		},
		{
			"moved, with a release and without a registry", "llamastack/distribution-starter:0.5.2@sha256:0", "ImagePullBackOff", "",
			`; the images in docker.io/llamastack moved to docker.io/ogxai: set spec.distribution.image to "docker.io/ogxai/distribution-starter:0.5.2"`,
		},
		{"a user's own registry", "example.com/llamastack/distribution-starter:1", "ErrImagePull", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := pod("p", waiting(tc.reason, tc.message))
			p.Status.ContainerStatuses[0].Image = tc.image
			got := status.Workload(status.WorkloadInput{
				Deployment: deployment(1, 1, 1, 0),
				Pods:       []corev1.Pod{p},
			}).Available.Message
			want := `0/1 replicas available with current config: image "` + tc.image + `" of container "llama-stack" cannot be pulled` + tc.want +
				"; see kubectl describe pod p"
			if got != want {
				t.Errorf("message:\n got %s\nwant %s", got, want)
			}
		})
	}
}
