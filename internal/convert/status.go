package convert

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

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

type words struct{ reason, message string }

var followers = []follower{
	{
		name: v1alpha1.ConditionDeploymentReady, follows: v1alpha2.ConditionAvailable,
		passed: words{v1alpha1.ReasonDeploymentReady, "Deployment is ready"}, failed: words{reason: v1alpha1.ReasonDeploymentFailed},
	},
	{
		name: v1alpha1.ConditionHealthCheck, follows: v1alpha2.ConditionAvailable,
		passed: words{v1alpha1.ReasonHealthCheckPassed, "Health check passed"},
		failed: words{v1alpha1.ReasonHealthCheckFailed, "Deployment not ready"},
	},
	{
		name: v1alpha1.ConditionServiceReady, follows: v1alpha2.ConditionDeploymentUpdated,
		passed: words{v1alpha1.ReasonServiceReady, "Service is ready"}, failed: words{reason: v1alpha1.ReasonServiceFailed},
	},
	{name: v1alpha1.ConditionConfigReady, follows: v1alpha2.ConditionConfigGenerated},
}

const (
	conditions         = "conditions"
	generatedConfigMap = "generatedConfigMap"
	providerConfig     = "config"
)

// statusToHub takes out of a status what the hub does not store. What only v1alpha1 has goes where the hub has what it is
// made of, and stays where it has not: in the status of an operator that knew v1alpha1 alone.
func statusToHub(object map[string]any) {
	status, ok := object["status"].(map[string]any)
	if !ok {
		return
	}
	if configMapOf(status) != "" {
		delete(status, generatedConfigMap)
	}
	for _, provider := range providersOf(status) {
		delete(provider, providerConfig) // the server's own answer, in which secrets may stand
	}
	if list, ok := status[conditions].([]any); ok {
		followed := followedIn(list)
		status[conditions] = slices.DeleteFunc(list, func(entry any) bool {
			i := slices.IndexFunc(followers, func(f follower) bool { return f.name == member[string](entry, "type") })
			return i >= 0 && followed[followers[i].follows] != nil
		})
	}
}

// statusFromHub adds what only v1alpha1 has to a status.
func statusFromHub(object map[string]any) {
	statusToHub(object) // an older operator stored some of it
	status, ok := object["status"].(map[string]any)
	if !ok {
		return
	}
	if name := configMapOf(status); name != "" {
		status[generatedConfigMap] = name
	}
	for _, provider := range providersOf(status) {
		provider[providerConfig] = make(map[string]any) // v1alpha1 requires one
	}
	if list, ok := status[conditions].([]any); ok {
		followed := followedIn(list)
		for _, f := range followers {
			if made := f.from(followed[f.follows], status); made != nil {
				list = append(list, made)
			}
		}
		status[conditions] = list
	}
}

// followedIn are the conditions in a list that others follow, by type: of several of one type the first.
func followedIn(list []any) map[string]map[string]any {
	found := make(map[string]map[string]any)
	for _, entry := range list {
		name := member[string](entry, "type")
		known := slices.ContainsFunc(followers, func(f follower) bool { return f.follows == name })
		if condition, ok := entry.(map[string]any); ok && known && found[name] == nil && hasState(condition) {
			found[name] = condition
		}
	}
	return found
}

func hasState(condition map[string]any) bool {
	return slices.Contains([]string{"True", "False", "Unknown"}, member[string](condition, "status"))
}

// from makes the condition. Nil: there is none.
func (f follower) from(followed, status map[string]any) map[string]any {
	if followed == nil {
		return nil
	}
	made := runtime.DeepCopyJSON(followed)
	made["type"] = f.name
	hasPods := made["reason"] != v1alpha2.ReasonScaledToZero
	switch {
	case f.name == v1alpha1.ConditionServiceReady && member[string](status, "serviceURL") != "":
		made["status"] = "True" // whatever becomes of a change: the Service is there
	case f.name == v1alpha1.ConditionServiceReady && made["status"] == "True":
		return nil // a stack without a Service
	case f.name == v1alpha1.ConditionHealthCheck && !hasPods:
		made["status"], made["message"] = "Unknown", "No pods to check"
	}
	switch made["status"] {
	case "True":
		f.passed.write(made)
	case "False":
		f.failed.write(made)
	}
	return made
}

func (w words) write(condition map[string]any) {
	if w.reason != "" {
		condition["reason"] = w.reason
	}
	if w.message != "" {
		condition["message"] = w.message
	}
}

// configMapOf is the name of the generated ConfigMap; empty when there is none.
func configMapOf(status map[string]any) string {
	return member[string](status["configGeneration"], "configMapName")
}

// providersOf are the providers of the running server.
func providersOf(status map[string]any) []map[string]any {
	var providers []map[string]any
	for _, entry := range member[[]any](status["distributionConfig"], "providers") {
		if provider, ok := entry.(map[string]any); ok {
			providers = append(providers, provider)
		}
	}
	return providers
}

// member is a field of what may be an object; nothing when it is not there, or of another type.
func member[T any](object any, name string) T {
	fields, _ := object.(map[string]any)
	value, _ := fields[name].(T)
	return value
}
