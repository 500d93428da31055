package convert

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// follower is a condition that only v1alpha1 has.
type follower struct {
	name string
	// follows is the condition of the hub that it is made of.
	follows string
	// passed and failed are the words in place of that condition's own while it is True and False; one that is empty stays.
	// While it is Unknown they all stay.
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

// statusToHub takes out of a status what the hub does not store. What only v1alpha1 has goes where the hub has what it is
// made of, and stays where it has not: in the status of an operator that knew v1alpha1 alone. It returns the conditions
// that those of v1alpha1 follow, in the order of followers.
func statusToHub(o *object) []value {
	status := o.objectAt("status")
	if configMapOf(status).exists() {
		status.delete(generatedConfigMap)
	}
	providers := providersOf(status)
	for i := range providers {
		if providers[i].member(providerConfig).exists() {
			providers[i].open(o.arena).delete(providerConfig) // the server's own answer, in which secrets may stand
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
		i := slices.IndexFunc(followers, func(f follower) bool { return entry.name.says(f.name) })
		if i < 0 || !followed[i].exists() {
			kept = append(kept, entry.value)
		}
	}
	*list = kept
	return followed
}

// statusFromHub adds what only v1alpha1 has to a status.
func statusFromHub(o *object) {
	followed := statusToHub(o) // an older operator stored some of it
	status := o.objectAt("status")
	if name := configMapOf(status); name.exists() {
		status.set(generatedConfigMap, name)
	}
	providers := providersOf(status)
	for i := range providers {
		if provider := providers[i].open(o.arena); provider != nil {
			provider.set(providerConfig, value{object: o.another()}) // v1alpha1 requires one
		}
	}
	for i, condition := range followed {
		if made := followers[i].from(condition, status); made != nil {
			list := status.listAt(conditions)
			*list = append(*list, value{object: made})
		}
	}
}

// condition is an entry of the conditions, under its type.
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

// followedIn are the conditions that the followers follow, in their order: of several of one type the first.
func followedIn(entries []condition) []value {
	found := make([]value, len(followers))
	for i, f := range followers {
		for _, entry := range entries {
			if entry.name.says(f.follows) && hasState(entry.value) {
				found[i] = entry.value
				break
			}
		}
	}
	return found
}

func hasState(condition value) bool {
	state := condition.member("status")
	return state.says("True") || state.says("False") || state.says("Unknown")
}

// from makes the condition. Nil: there is none.
func (f follower) from(followed value, status *object) *object {
	if !followed.exists() {
		return nil
	}
	followed = followed.clone()
	made := followed.open(status.arena)
	made.set("type", rawText(f.name))
	hasPods := !made.get("reason").says(v1alpha2.ReasonScaledToZero)
	switch {
	case f.name == v1alpha1.ConditionServiceReady && status.get("serviceURL").hasText():
		made.set("status", rawText("True")) // whatever becomes of a change: the Service is there
	case f.name == v1alpha1.ConditionServiceReady && made.get("status").says("True"):
		return nil // a stack without a Service
	case f.name == v1alpha1.ConditionHealthCheck && !hasPods:
		made.set("status", rawText("Unknown"))
		made.set("message", rawText("No pods to check"))
	}
	switch state := made.get("status"); {
	case state.says("True"):
		f.passed.write(made)
	case state.says("False"):
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

// configMapOf is the name of the generated ConfigMap, if there is one.
func configMapOf(status *object) value {
	if name := status.get("configGeneration").member("configMapName"); name.hasText() {
		return name
	}
	return value{}
}

// providersOf are the providers of the running server.
func providersOf(status *object) list {
	if providers := status.listAt("distributionConfig", "providers"); providers != nil {
		return *providers
	}
	return nil
}
