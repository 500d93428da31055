package status

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// harmless matches the images that a command may contain. The image in the status can be from a Deployment that the
// operator adopted, in which the API server accepts any text, and users copy the command into a shell.
var harmless = regexp.MustCompile(`^\w[\w.:/@+-]*$`)

// nextForPods returns the command that shows the reason why pods do not serve requests.
func (d *decision) nextForPods() string {
	pod := d.report.troubled()
	switch {
	case strings.Contains(d.live().Message, "`kubectl rollout restart "):
		return d.kubectl("rollout restart deployment/" + names.Deployment(d.report.Name))
	case pod == nil:
		return d.run("status") + " --watch"
	case pod.Trouble == status.Crashed:
		next := d.run("logs") + " --previous"
		if pod.Container != names.ServerContainer(d.facts.Stack.Annotations) {
			next += " -c " + pod.Container
		}
		return next
	case pod.Trouble == status.NotReady:
		return d.run("logs")
	default:
		return d.kubectl("describe pod " + pod.Name)
	}
}

// nextFor returns the command to run for the reason of a condition.
func (d *decision) nextFor(reason string) string {
	name := d.report.Name
	switch reason {
	case v1alpha2.ReasonSecretNotFound, v1alpha2.ReasonSecretKeyMissing, v1alpha2.ReasonSecretValueUnusable,
		v1alpha2.ReasonSecretChangedToInvalid:
		return d.kubectl("get secrets")
	case v1alpha2.ReasonConfigMapNotFound, v1alpha2.ReasonConfigMapKeyMissing, v1alpha2.ReasonConfigMapValueUnusable:
		return d.kubectl("get configmaps")
	case v1alpha2.ReasonMissingConfigLabels, v1alpha2.ReasonBaseConfigUnavailable:
		if image := d.report.Server.Image; harmless.MatchString(image) {
			return "kubectl llamastack image inspect " + image
		}
		return d.run("events")
	case v1alpha2.ReasonDeploymentUpdateFailed, v1alpha2.ReasonOwnershipConflict:
		if meta.IsStatusConditionTrue(d.facts.Stack.Status.Conditions, v1alpha2.ConditionStalled) {
			return d.kubectl("edit llsd " + name)
		}
		return d.run("events")
	case v1alpha2.ReasonPreflightFailed:
		return d.nextForPods()
	case v1alpha2.ReasonStorageLost, v1alpha2.ReasonStorageResizeRefused, v1alpha2.ReasonStorageShrinkRefused,
		v1alpha2.ReasonStorageChangeRefused:
		return d.kubectl("describe pvc " + names.PersistentVolumeClaim(name))
	case v1alpha2.ReasonExposureNotAccepted, v1alpha2.ReasonHostnameTaken:
		for _, exposure := range d.report.Exposure {
			return d.kubectl("describe " + exposure.Kind + " " + exposure.Name)
		}
		return d.kubectl("describe llsd " + name)
	case v1alpha2.ReasonAutoscalerInactive:
		return d.kubectl("describe hpa " + names.HorizontalPodAutoscaler(name))
	case v1alpha2.ReasonExposureUnavailable, v1alpha2.ReasonInternalError:
		return "kubectl llamastack doctor" + d.facts.Flags
	case v1alpha2.ReasonPreflightInProgress,
		v1alpha2.ReasonReadingExternalProviders,
		v1alpha2.ReasonWaiting,
		v1alpha2.ReasonProgressing:
		return d.run("status") + " --watch"
	case v1alpha2.ReasonDataLossNotAccepted, v1alpha2.ReasonDataLeftBehind, v1alpha2.ReasonDataNotOnVolume:
		return d.kubectl("describe llsd " + name)
	default: // the problem is in a field of the specification
		return d.kubectl("edit llsd " + name)
	}
}
