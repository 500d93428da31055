package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// These are the kubelet's reasons for images that it cannot pull.
const (
	errImagePull      = "ErrImagePull"
	imagePullBackOff  = "ImagePullBackOff"
	invalidImageName  = "InvalidImageName"
	errImageNeverPull = "ErrImageNeverPull"
	imageInspectError = "ImageInspectError"
)

var notPulled = []string{errImagePull, imagePullBackOff, invalidImageName, errImageNeverPull, imageInspectError}

// pullAnswers maps phrases in the kubelet's messages about registries and the network to their meanings. The first
// match applies. The status does not show the kubelet's message, because it may contain a URL with credentials.
var pullAnswers = []struct {
	phrases []string
	meaning string
}{
	{[]string{"no match for platform", "no matching manifest"}, "the image is not built for the node's processor architecture; use an image for this architecture, or select other nodes"},
	{
		[]string{"x509:"},
		"the node does not trust the registry's certificate; add the certificate authority to the trust store of each node",
	},
	{[]string{"toomanyrequests", "too many requests", "rate limit"}, "the registry limits how often images are pulled; wait, or add a pull Secret to spec.workload.overrides.imagePullSecrets"},
	{[]string{"repository does not exist"}, "the registry does not have the image, or requires credentials; check the name of the image, or add a pull Secret to spec.workload.overrides.imagePullSecrets"},
	{[]string{"unauthorized", "authentication required", "denied", "forbidden", "no basic auth credentials"}, "the registry requires credentials, or rejects the credentials; add a valid pull Secret to spec.workload.overrides.imagePullSecrets"},
	{
		[]string{"not found", "manifest unknown", "name unknown"},
		"the registry does not have the image; check the name and the tag of the image",
	},
	{
		[]string{"no such host", "i/o timeout", "connection refused", "dial tcp", "deadline exceeded"},
		"the node cannot reach the registry; check the node's network and proxy, or use a mirror",
	},
	{[]string{"no space left"}, "the node's disk is full; free up disk space on the node"},
}

const cannotBePulled = "cannot be pulled"

// pullFailure returns the reason why an image cannot be pulled, and its new location if it has moved.
func pullFailure(pod string, container *corev1.ContainerStatus) string {
	message := fmt.Sprintf("image %q of container %q %s", container.Image, container.Name, cannotBePulled)
	if meaning := pullMeaning(container.State.Waiting, "spec.workload.overrides.imagePullPolicy"); meaning != "" {
		message += ": " + meaning
	}
	if now := distribution.MovedTo(container.Image); now != "" {
		message += fmt.Sprintf("; the images in docker.io/llamastack moved to docker.io/ogxai: set spec.distribution.image to %q", now)
	}
	return message + "; see kubectl describe pod " + pod
}

// pullMeaning returns the reason why an image cannot be pulled, or an empty string if the kubelet reports no known
// reason. policy is the path of the field with the pull policy.
func pullMeaning(waiting *corev1.ContainerStateWaiting, policy string) string {
	switch waiting.Reason {
	case invalidImageName:
		return "the image reference is not valid; correct the image reference"
	case errImageNeverPull:
		return "the image is not on the node, and " + policy + " is Never; " +
			"load the image onto the node, or remove the field"
	}
	message := strings.ToLower(waiting.Message)
	for _, answer := range pullAnswers {
		for _, phrase := range answer.phrases {
			if strings.Contains(message, phrase) {
				return answer.meaning
			}
		}
	}
	return ""
}
