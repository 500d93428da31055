package convert

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// follower is a condition that only v1alpha1 has.
type follower struct {
	name string
	// follows is the hub's condition from which this condition is derived.
	follows string
	// passed replaces the reason and the message of the hub's condition while that condition is True, and failed replaces
	// them while it is False. An empty value replaces nothing. While the hub's condition is Unknown, its reason and
	// message are kept.
	passed, failed words
}

type words struct{ reason, message value }

var followers = []follower{
	{
		name: v1alpha1.ConditionDeploymentReady, follows: v1alpha2.ConditionAvailable,
		passed: words{rawText(v1alpha1.ReasonDeploymentReady), rawText("Deployment is ready")},
		failed: words{reason: rawText(v1alpha1.ReasonDeploymentFailed)},
	},
	{
		name: v1alpha1.ConditionHealthCheck, follows: v1alpha2.ConditionAvailable,
		passed: words{rawText(v1alpha1.ReasonHealthCheckPassed), rawText("Health check passed")},
		failed: words{rawText(v1alpha1.ReasonHealthCheckFailed), rawText("Deployment not ready")},
	},
	{
		name: v1alpha1.ConditionServiceReady, follows: v1alpha2.ConditionDeploymentUpdated,
		passed: words{rawText(v1alpha1.ReasonServiceReady), rawText("Service is ready")},
		failed: words{reason: rawText(v1alpha1.ReasonServiceFailed)},
	},
	{name: v1alpha1.ConditionConfigReady, follows: v1alpha2.ConditionConfigGenerated},
}

const (
	conditions         = "conditions"
	generatedConfigMap = "generatedConfigMap"
	providerConfig     = "config"
)

// statusToHub removes the parts of a status that the hub does not store. It removes a condition or the name of the
// ConfigMap if the hub has the part from which conversion derives it. Otherwise, it keeps the part. For example, an
// operator that supports only v1alpha1 writes a status without these parts of the hub. statusToHub always removes the
// configurations of providers. It returns the conditions from which those of v1alpha1 are derived, in the order of
// followers.
func statusToHub(o *object) []value {
	status := o.objectAt("status")
	if configMapOf(status).exists() {
		status.delete(generatedConfigMap)
	}
	providers := providersOf(status)
	for i := range providers {
		if providers[i].member(providerConfig).exists() {
			providers[i].open(o.arena).delete(providerConfig) // The server's response can contain secrets.
		}
	}
	list := status.listAt(conditions)
	if list == nil {
		return nil
	}
	entries := conditionsOf(*list)
	followed := followedIn(entries)
	kept := (*list)[:0]
	for _, entry := range entries {
		i := slices.IndexFunc(followers, func(f follower) bool { return entry.name.is(f.name) })
		if i < 0 || !followed[i].exists() {
			kept = append(kept, entry.value)
		}
	}
	*list = kept
	return followed
}

// statusFromHub adds the parts of a status that only v1alpha1 has.
func statusFromHub(o *object) {
	followed := statusToHub(o) // an older operator stored some of these parts
	status := o.objectAt("status")
	if name := configMapOf(status); name.exists() {
		status.set(generatedConfigMap, name)
	}
	providers := providersOf(status)
	for i := range providers {
		if provider := providers[i].open(o.arena); provider != nil {
			provider.set(providerConfig, value{object: o.another()}) // v1alpha1 requires this field.
		}
	}
	for i, condition := range followed {
		if made := followers[i].from(condition, status); made != nil {
			list := status.listAt(conditions)
			*list = append(*list, value{object: made})
		}
	}
}

// condition is an entry in the list of conditions. The field `name` contains its type.
type condition struct {
	name, value value
}

func conditionsOf(entries list) []condition {
	found := make([]condition, len(entries))
	for i, entry := range entries {
		found[i] = condition{entry.member("type"), entry}
	}
	return found
}

// followedIn returns, for each follower, the condition from which it is derived, in the order of followers. If several
// conditions have the same type, it uses the first one with a valid status.
func followedIn(entries []condition) []value {
	found := make([]value, len(followers))
	for i, f := range followers {
		for _, entry := range entries {
			if entry.name.is(f.follows) && hasState(entry.value) {
				found[i] = entry.value
				break
			}
		}
	}
	return found
}

func hasState(condition value) bool {
	state := condition.member("status")
	return state.is("True") || state.is("False") || state.is("Unknown")
}

// from returns the derived condition, or nil if there is none.
func (f follower) from(followed value, status *object) *object {
	if !followed.exists() {
		return nil
	}
	followed = followed.clone()
	made := followed.open(status.arena)
	made.set("type", rawText(f.name))
	hasPods := !made.get("reason").is(v1alpha2.ReasonScaledToZero)
	switch {
	case f.name == v1alpha1.ConditionServiceReady && status.get("serviceURL").hasText():
		made.set("status", rawText("True")) // The Service exists, even if its last change failed.
	case f.name == v1alpha1.ConditionServiceReady && made.get("status").is("True"):
		return nil // The stack has no Service.
	case f.name == v1alpha1.ConditionHealthCheck && !hasPods:
		made.set("status", rawText("Unknown"))
		made.set("message", rawText("No pods to check"))
	}
	switch state := made.get("status"); {
	case state.is("True"):
		f.passed.write(made)
	case state.is("False"):
		f.failed.write(made)
	}
	return made
}

func (w words) write(condition *object) {
	if w.reason.exists() {
		condition.set("reason", w.reason)
	}
	if w.message.exists() {
		condition.set("message", w.message)
	}
}

// configMapOf returns the name of the generated ConfigMap, if there is one.
func configMapOf(status *object) value {
	if name := status.get("configGeneration").member("configMapName"); name.hasText() {
		return name
	}
	return value{}
}

// providersOf returns the providers of the running server.
func providersOf(status *object) list {
	if providers := status.listAt("distributionConfig", "providers"); providers != nil {
		return *providers
	}
	return nil
}
