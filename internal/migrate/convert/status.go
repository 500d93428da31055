package convert

import (
	"maps"
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

type words struct{ reason, message string }

var followers = []follower{
	{
		name: v1alpha1.ConditionDeploymentReady, follows: v1alpha2.ConditionAvailable,
		passed: words{v1alpha1.ReasonDeploymentReady, "Deployment is ready"},
		failed: words{reason: v1alpha1.ReasonDeploymentFailed},
	},
	{
		name: v1alpha1.ConditionHealthCheck, follows: v1alpha2.ConditionAvailable,
		passed: words{v1alpha1.ReasonHealthCheckPassed, "Health check passed"},
		failed: words{v1alpha1.ReasonHealthCheckFailed, "Deployment not ready"},
	},
	{
		name: v1alpha1.ConditionServiceReady, follows: v1alpha2.ConditionDeploymentUpdated,
		passed: words{v1alpha1.ReasonServiceReady, "Service is ready"},
		failed: words{reason: v1alpha1.ReasonServiceFailed},
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
func statusToHub(o tree) []any {
	status := parent(o, path{"status", conditions}, false)
	if configMapOf(status) != "" {
		delete(status, generatedConfigMap)
	}
	changeProviders(status, func(written any) any {
		if member(written, providerConfig) == nil {
			return written
		}
		provider := fields(written)
		delete(provider, providerConfig) // The server's response can contain secrets.
		return provider
	})
	list := items(status[conditions])
	if list == nil {
		return nil
	}
	types, followed := followedIn(list)
	kept := make([]any, 0, len(list)+len(followers))
	for n, entry := range list {
		i := slices.IndexFunc(followers, func(f follower) bool { return types[n] == f.name })
		if i < 0 || followed[i] == nil {
			kept = append(kept, entry)
		}
	}
	status[conditions] = kept
	return followed
}

// statusFromHub adds the parts of a status that only v1alpha1 has.
func statusFromHub(o tree) {
	followed := statusToHub(o) // an older operator stored some of these parts
	status := fields(o["status"])
	if name := configMapOf(status); name != "" {
		status[generatedConfigMap] = name
	}
	changeProviders(status, func(written any) any {
		provider := fields(written)
		if provider == nil {
			return written
		}
		provider[providerConfig] = tree{} // v1alpha1 requires this field.
		return provider
	})
	for i, condition := range followed {
		if made := followers[i].from(condition, status); made != nil {
			status[conditions] = append(items(status[conditions]), made)
		}
	}
}

// changeProviders replaces the providers of the running server.
func changeProviders(status tree, change func(provider any) any) {
	told := parent(status, path{"distributionConfig", "providers"}, false)
	if providers := items(told["providers"]); providers != nil {
		for i, provider := range providers {
			providers[i] = change(provider)
		}
		told["providers"] = providers
	}
}

// followedIn returns the types of the conditions. For each follower, it returns the condition from which it is derived,
// in the order of followers. If several conditions have the same type, it uses the first one with a valid status.
func followedIn(conditions []any) (types []string, followed []any) {
	types, followed = make([]string, len(conditions)), make([]any, len(followers))
	for n, condition := range conditions {
		types[n] = text(member(condition, "type"))
		for i, f := range followers {
			if followed[i] == nil && types[n] == f.follows && slices.Contains(states, text(member(condition, "status"))) {
				followed[i] = condition
			}
		}
	}
	return types, followed
}

// states are the valid values for the status of a condition.
var states = []string{"True", "False", "Unknown"}

// from returns the derived condition, or nil if there is none.
func (f follower) from(followed any, status tree) tree {
	if followed == nil {
		return nil
	}
	made := maps.Clone(fields(followed))
	made["type"] = f.name
	hasPods := text(made["reason"]) != v1alpha2.ReasonScaledToZero
	switch {
	case f.name == v1alpha1.ConditionServiceReady && text(status["serviceURL"]) != "":
		made["status"] = "True" // The Service exists, even if its last change failed.
	case f.name == v1alpha1.ConditionServiceReady && text(made["status"]) == "True":
		return nil // The stack has no Service.
	case f.name == v1alpha1.ConditionHealthCheck && !hasPods:
		made["status"], made["message"] = "Unknown", "No pods to check"
	}
	switch text(made["status"]) {
	case "True":
		f.passed.write(made)
	case "False":
		f.failed.write(made)
	}
	return made
}

func (w words) write(condition tree) {
	if w.reason != "" {
		condition["reason"] = w.reason
	}
	if w.message != "" {
		condition["message"] = w.message
	}
}

// configMapOf returns the name of the generated ConfigMap, or "".
func configMapOf(status tree) string {
	return text(member(status["configGeneration"], "configMapName"))
}
