package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// observeServer records the response of the running server in the status. It queries the server when the rollout is
// complete and no pod of a different revision can respond. It adds a warning if the release of the server differs from
// the release of its configuration. A server that does not report its version is not a problem.
//
// observeServer returns the response, and the text about the server's release for the condition ConfigGenerated.
func (r *Reconciler) observeServer(s *state, pods []corev1.Pod, mixed bool) (answer probe.Answer, note string) {
	now := &s.stack.Status
	if was := now.ResolvedDistribution; was != nil && was.Image != s.labels.Distribution.Image {
		r.setVersion(now, func(v *v1alpha2.VersionStatus) { v.LlamaStackServerVersion = "" })
		forgetServer(now)
	}
	target, ok := serverOf(s, pods)
	switch {
	case ok && mixed: // keeps the known version until the other pods are gone; their removal requeues the stack
	case ok:
		answer = r.prober.Ask(target)
		if answer.Version != "" {
			r.setVersion(now, func(v *v1alpha2.VersionStatus) { v.LlamaStackServerVersion = answer.Version })
		}
		recordServer(s.stack, s.intent, &answer)
	default:
		r.prober.Rest(keyOf(s.stack))
		if s.report.Has(v1alpha2.ConditionAvailable, v1alpha2.ReasonScaledToZero) {
			forgetServer(now)
		}
	}
	note = report.InItsWords(s.stack, releaseNote(s.stack, &s.labels.Distribution, &s.owned.decision))
	generated := meta.FindStatusCondition(s.report.Conditions, v1alpha2.ConditionConfigGenerated)
	if note == "" || generated == nil {
		return answer, note
	}
	generated.Message += "; " + note
	was := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionConfigGenerated)
	if was == nil || !strings.HasSuffix(was.Message, note) {
		s.report.Warning(v1alpha2.EventServerReleaseDiffers, note)
	}
	return answer, note
}

// setVersion changes the versions in the status and sets the time of the change.
func (r *Reconciler) setVersion(now *v1alpha2.LlamaStackDistributionStatus, change func(*v1alpha2.VersionStatus)) {
	var version v1alpha2.VersionStatus
	if now.Version != nil {
		version = *now.Version
	}
	changed := version
	change(&changed)
	if now.Version != nil && changed == version {
		return
	}
	at := report.Timestamp(r.now())
	changed.LastUpdated = &at
	now.Version = &changed
}

// serverOf returns the target for queries. It returns false unless all pods are available and current.
func serverOf(s *state, pods []corev1.Pod) (probe.Target, bool) {
	available := s.report.Has(v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
	server, deployment := names.ServerContainer(s.stack.Annotations), s.live().Deployment
	if !available || s.owned.decision.Outcome == rollout.RolledBack || !metav1.IsControlledBy(deployment, s.stack) {
		return probe.Target{}, false
	}
	id, err := rolloutOf(deployment, pulled(pods, server))
	if err != nil {
		return probe.Target{}, false
	}
	return probe.Target{
		Stack: keyOf(s.stack), Deployment: deployment.UID, Rollout: id, Port: serverPort(s.stack, deployment),
		TLS:         servesTLS(&deployment.Spec.Template.Spec, server),
		Certificate: certificateOf(&s.stack.Spec, s.secrets.values),
		MCP:         mayHaveMCP(s.stack, s.intent),
	}, true
}

// rolloutOf returns an identifier of a rollout. It depends on the template, which changes with a restart but not with
// scaling. It also depends on the images of the pods, which may change without a change to the template if a tag moves.
func rolloutOf(deployment *appsv1.Deployment, images []string) (string, error) {
	template, err := json.Marshal(deployment.Spec.Template)
	if err != nil {
		return "", fmt.Errorf("encode the template of Deployment %q: %w", deployment.Name, err)
	}
	sum := sha256.Sum256(template)
	return strings.Join(append([]string{string(deployment.UID), hex.EncodeToString(sum[:])}, images...), " "), nil
}

// pulled returns the distinct image IDs of the ready servers, as the nodes report them.
func pulled(pods []corev1.Pod, server string) []string {
	var images []string
	for i := range pods {
		for _, c := range pods[i].Status.ContainerStatuses {
			if c.Name == server && c.Ready {
				images = append(images, c.ImageID)
			}
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// servesTLS reports whether the server uses HTTPS, according to its readiness probe.
func servesTLS(pod *corev1.PodSpec, server string) bool {
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if c.Name == server && c.ReadinessProbe != nil && c.ReadinessProbe.HTTPGet != nil {
			return c.ReadinessProbe.HTTPGet.Scheme == corev1.URISchemeHTTPS
		}
	}
	return false
}

// releaseNote returns a message, with a remedy, if the release line of the running server differs from the release line
// of its configuration. It is empty if the lines match, if the line of the running server is unknown, or after a
// rollback.
func releaseNote(stack *stack, image *distribution.Resolved, decision *rollout.Decision) string {
	configured := decision.Record.Distribution.Release
	if stack.Status.Version == nil {
		return ""
	}
	version := stack.Status.Version.LlamaStackServerVersion
	line := release.LineOf(version)
	if line == "" || line == configured || decision.Outcome == rollout.RolledBack {
		return ""
	}
	remedy := fmt.Sprintf("set spec.distribution.version to %q", line)
	switch {
	case !slices.Contains(release.Offered(), line):
		remedy = "use an image with a server release that this operator supports: " + strings.Join(release.Offered(), ", ")
	case stack.Spec.Distribution.Name != "":
	case image.DetectedBy == distribution.ByLabel: // a label takes precedence over the tag
		remedy = fmt.Sprintf("the image's label is incorrect; set spec.distribution.image to an image with the label %s=%s", registry.LabelRelease, version)
	default:
		remedy = fmt.Sprintf("set spec.distribution.image to an image with a tag that begins with %s, or with the label %s=%s", line, registry.LabelRelease, version)
	}
	return fmt.Sprintf("the server runs release %s, but its configuration is for release %s: %s", version, configured, remedy)
}
