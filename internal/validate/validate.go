package validate

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

// object is what rules look at.
type object = v1alpha2.LlamaStackDistribution

// rule is one check. Its name is what tests use to tell that it has cases.
type rule struct {
	name  string
	check func(*object) field.ErrorList
}

// rules in the order of the spec's fields.
var rules = []rule{
	{"name", name},
	{"distribution.one", distributionOne},
	{"distribution.image", distributionImage},
	{"distribution.version", distributionVersion},
	{"overrideConfig.excludes", overrideExcludes},
	{"overrideConfig.reference", overrideReference},
	{"baseConfig.reference", baseReference},
	{"intent", fromIntent},
	{"resources.count", resourceCount},
	{"removeSettings.path", removeSettingsPath},
	{"secretEnv.count", secretEnvCount},
	{"secretEnv.reserved", secretEnvReserved},
	{"disabled.known", disabledKnown},
	{"disabled.count", disabledCount},
	{"disabled.twice", disabledTwice},
	{"networking.tls.secretName", tlsSecretName},
	{"networking.tls.caBundle", caBundle},
	{"networking.expose", expose},
	{"networking.allowedFrom.namespaces", allowedNamespaces},
	{"networking.allowedFrom.labels", allowedLabels},
	{"workload.replicas", replicas},
	{"workload.autoscaling.bounds", autoscalingBounds},
	{"workload.autoscaling.targets", autoscalingTargets},
	{"workload.storage.size", storageSize},
	{"workload.storage.mountPath", storageMountPath},
	{"workload.storage.accessModes", storageAccessModes},
	{"workload.podDisruptionBudget.one", disruptionBudgetOne},
	{"workload.podDisruptionBudget.value", disruptionBudgetValue},
	{"workload.topologySpreadConstraints.twice", spreadTwice},
	{"workload.preflight", preflight},
	{"workload.overrides.serviceAccountName", serviceAccountName},
	{"workload.overrides.imagePullPolicy", imagePullPolicy},
	{"workload.overrides.podLabels", podLabels},
	{"workload.overrides.podAnnotations", podAnnotations},
	{"workload.overrides.terminationGracePeriodSeconds", terminationGracePeriod},
	{"workload.overrides.podTemplate", podTemplate},
	{"externalProviders.api", externalAPI},
	{"externalProviders.count", externalCount},
	{"externalProviders.id", externalID},
	{"externalProviders.twice", externalTwice},
	{"externalProviders.image", externalImage},
	{"externalProviders.imagePullPolicy", externalPullPolicy},
	{"externalProviders.config", externalConfig},
	{"externalProviders.secretRefs", externalSecrets},
}

// Spec finds everything that is wrong with an object, in the order of its
// fields, and what is right but hardly meant. It changes nothing and never
// panics, whatever is stored. Each error stands for itself: intent.Message gives
// field path, value and remedy, no value of a secret among them.
func Spec(obj *v1alpha2.LlamaStackDistribution) (warnings []string, errs field.ErrorList) {
	for _, r := range rules {
		for _, err := range r.check(obj) {
			if !slices.ContainsFunc(errs, func(e *field.Error) bool { return e.Field == err.Field && e.Detail == err.Detail }) {
				errs = append(errs, err)
			}
		}
	}
	return Warnings(obj), errs
}

// fromIntent are the rules of the strict decoder: providers, resources, storage,
// settings, disabled, port, workers and secret references.
func fromIntent(obj *object) field.ErrorList {
	_, errs := intent.FromObject(obj)
	return errs
}

func spec(names ...string) *field.Path {
	path := field.NewPath("spec")
	for _, name := range names {
		path = path.Child(name)
	}
	return path
}
