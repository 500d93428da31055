package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// stack is the stack that is observed.
type stack = v1alpha2.LlamaStackDistribution

// Observer records in the statuses of stacks what their running servers respond.
type Observer struct {
	Prober *probe.Prober

	cache     client.Reader
	now       func() time.Time
	available available
}

// New returns an observer whose prober has not started. It finds pods in an indexed cache. New sets the function that
// locates servers in the options of the prober.
func New(cache client.Reader, now func() time.Time, options probe.Options) *Observer {
	o := &Observer{cache: cache, now: now}
	options.Locate = o.locate
	o.Prober = probe.New(options)
	return o
}

// Pass is what a reconcile knows about a stack when its steps have ended.
type Pass struct {
	Stack      *stack
	Intent     *intent.Intent
	Image      *distribution.Resolved
	Decision   *rollout.Decision
	Deployment *appsv1.Deployment
	Pods       []corev1.Pod
	// Mixed reports whether a pod of a different revision can respond.
	Mixed   bool
	Secrets resolve.Values
	Report  *report.Report
}

// Server records the response of the running server in the status. It queries the server when the rollout is complete
// and no pod of a different revision can respond. It adds a warning if the release of the server differs from the
// release of its configuration. A server that does not report its version is not a problem.
func (o *Observer) Server(p *Pass) (answer probe.Answer) {
	now := &p.Stack.Status
	if was := now.ResolvedDistribution; was != nil && was.Image != p.Image.Image {
		SetVersion(now, o.now(), func(v *v1alpha2.VersionStatus) { v.LlamaStackServerVersion = "" })
		forgetServer(now)
	}
	target, ok := p.server()
	switch {
	case ok && p.Mixed: // keeps the known version until the other pods are gone; their removal requeues the stack
	case ok:
		answer = o.Prober.Ask(target)
		if answer.Version != "" {
			SetVersion(now, o.now(), func(v *v1alpha2.VersionStatus) { v.LlamaStackServerVersion = answer.Version })
		}
		recordServer(p.Stack, p.Intent, &answer)
	default:
		o.Prober.Rest(client.ObjectKeyFromObject(p.Stack))
		if p.Report.Has(v1alpha2.ConditionAvailable, v1alpha2.ReasonScaledToZero) {
			forgetServer(now)
		}
	}
	note := report.InItsWords(p.Stack, releaseNote(p.Stack, p.Image, p.Decision))
	generated := meta.FindStatusCondition(p.Report.Conditions, v1alpha2.ConditionConfigGenerated)
	if note == "" || generated == nil {
		return answer
	}
	generated.Message += "; " + note
	was := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionConfigGenerated)
	if was == nil || !strings.HasSuffix(was.Message, note) {
		p.Report.Warning(v1alpha2.EventServerReleaseDiffers, note)
	}
	return answer
}

// SetVersion changes the versions in the status and sets the time of the change.
func SetVersion(now *v1alpha2.LlamaStackDistributionStatus, at time.Time, change func(*v1alpha2.VersionStatus)) {
	var version v1alpha2.VersionStatus
	if now.Version != nil {
		version = *now.Version
	}
	changed := version
	change(&changed)
	if now.Version != nil && changed == version {
		return
	}
	updated := report.Timestamp(at)
	changed.LastUpdated = &updated
	now.Version = &changed
}

// server returns the target for queries. It returns false unless all pods are available and current.
func (p *Pass) server() (probe.Target, bool) {
	available := p.Report.Has(v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable)
	if !available || p.Decision.Outcome == rollout.RolledBack || !metav1.IsControlledBy(p.Deployment, p.Stack) {
		return probe.Target{}, false
	}
	id, err := rolloutOf(p.Deployment, pulled(p.Pods, names.ServerContainer(p.Stack.Annotations)))
	if err != nil {
		return probe.Target{}, false
	}
	container := render.ServerContainer(p.Stack, &p.Deployment.Spec.Template.Spec)
	return probe.Target{
		Stack: client.ObjectKeyFromObject(p.Stack), Deployment: p.Deployment.UID, Rollout: id,
		Port: serverPort(p.Stack, container), TLS: servesTLS(container),
		Certificate: certificateOf(&p.Stack.Spec, p.Secrets), MCP: mayHaveMCP(p.Stack, p.Intent),
	}, true
}

// serverPort returns the port of the server, according to its container in the running template.
func serverPort(stack *stack, server *corev1.Container) int32 {
	if server != nil {
		if port := render.ServerPort(server.Ports); port != nil {
			return port.ContainerPort
		}
	}
	return render.Port(&stack.Spec)
}

// servesTLS reports whether the server uses HTTPS, according to its readiness probe.
func servesTLS(server *corev1.Container) bool {
	return server != nil && server.ReadinessProbe != nil && server.ReadinessProbe.HTTPGet != nil &&
		server.ReadinessProbe.HTTPGet.Scheme == corev1.URISchemeHTTPS
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

// locate returns the address of a pod of the target's Deployment, from the caches. It does not use the Service: a
// tenant can make a Service lead to any address, and the operator passes the NetworkPolicies of all stacks.
func (o *Observer) locate(ctx context.Context, target probe.Target) (netip.Addr, error) {
	var sets appsv1.ReplicaSetList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&sets, &pods} {
		err := o.cache.List(ctx, list, client.InNamespace(target.Stack.Namespace),
			client.MatchingLabels(names.Selector(target.Stack.Name)), client.UnsafeDisableDeepCopy)
		if err != nil {
			return netip.Addr{}, fmt.Errorf("list the cached pods of the server: %w", err)
		}
	}
	serving := status.ServingPods(target.Deployment, sets.Items, pods.Items)
	if len(serving) == 0 {
		return netip.Addr{}, errors.New("no pod of the server is ready")
	}
	for i := range serving {
		if address, err := netip.ParseAddr(serving[i].Status.PodIP); err == nil && status.HasOwnAddress(&serving[i]) {
			return address, nil
		}
	}
	return netip.Addr{}, probe.ErrHostNetwork
}
