package validate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// checks holds the input of the rules and the findings of the current rule.
type checks struct {
	*v1alpha2.LlamaStackDistribution
	intent.Errors
	// intent contains the valid parts of the spec. decodeErrors are the errors in the other parts.
	intent       *intent.Intent
	decodeErrors field.ErrorList
	// patch is the decoded patch for the pod template, after podPatch was called.
	patch *corev1.PodTemplateSpec
	// clashes are the clashes with what the operator sets, after ownClashes was called.
	clashes []clash
	// failed reports whether an earlier rule found an error.
	failed bool
}

func checksOf(stack *v1alpha2.LlamaStackDistribution) *checks {
	in, errs := intent.FromObject(stack)
	return &checks{LlamaStackDistribution: stack, intent: in, decodeErrors: errs}
}

// rule is one check. Tests use the name to verify that the check has test cases.
type rule struct {
	name  string
	check func(*checks)
	// newInV1alpha2 reports whether the rule is new in v1alpha2. For a v1alpha1 stack, a violation of such a rule causes
	// only a warning, and the API server decides whether it accepts the objects of the stack.
	newInV1alpha2 bool
	// runs reports whether the server can run in spite of a violation. For a stored stack, such a violation is only
	// reported (see Stored).
	runs bool
}

// find returns the findings of a rule.
func (r *rule) find(c *checks) field.ErrorList {
	c.Errors = nil
	r.check(c)
	return field.ErrorList(c.Errors)
}

// rules lists all rules, in the order in which Spec reports their errors.
var rules = []rule{
	{name: "name", check: name},
	{name: "paused", check: paused},
	{name: "distribution.one", check: distributionOne},
	{name: "distribution.image", check: distributionImage, newInV1alpha2: true},
	{name: "distribution.version", check: distributionVersion},
	{name: "distribution.imageUpdates", check: distributionImageUpdates},
	{name: "distribution.baseProviders", check: distributionBaseProviders},
	{name: "overrideConfig.excludes", check: overrideExcludes},
	{name: "overrideConfig.reference", check: overrideReference},
	{name: "baseConfig.reference", check: baseReference},
	{name: "intent", check: fromIntent},
	{name: "resources.count", check: resourceCount},
	{name: "removeSettings.path", check: removeSettingsPath},
	{name: "secretEnv.count", check: secretEnvCount},
	{name: "secretEnv.reserved", check: secretEnvReserved},
	{name: "disabled.known", check: disabledKnown},
	{name: "disabled.count", check: disabledCount},
	{name: "disabled.twice", check: disabledTwice},
	{name: "networking.tls.secretName", check: tlsSecretName},
	{name: "networking.tls.caBundle", check: caBundle, newInV1alpha2: true},
	{name: "networking.expose", check: expose},
	{name: "networking.allowedFrom.namespaces", check: allowedNamespaces, newInV1alpha2: true},
	{name: "networking.allowedFrom.labels", check: allowedLabels, newInV1alpha2: true},
	{name: "workload.replicas", check: replicas},
	{name: "workload.autoscaling.bounds", check: autoscalingBounds, newInV1alpha2: true},
	{name: "workload.autoscaling.targets", check: autoscalingTargets, newInV1alpha2: true},
	{name: "workload.storage.size", check: storageSize, newInV1alpha2: true},
	{name: "workload.storage.mountPath", check: storageMountPath, newInV1alpha2: true},
	{name: "workload.storage.accessModes", check: storageAccessModes},
	{name: "workload.storage.storageClassName", check: storageClass, newInV1alpha2: true},
	{name: "workload.resources", check: containerResources, newInV1alpha2: true},
	{name: "workload.podDisruptionBudget.one", check: disruptionBudgetOne, newInV1alpha2: true},
	{name: "workload.podDisruptionBudget.value", check: disruptionBudgetValue, newInV1alpha2: true},
	{name: "workload.topologySpreadConstraints.twice", check: spreadTwice},
	{name: "workload.topologySpreadConstraints.values", check: spreadValues, newInV1alpha2: true},
	{name: "workload.preflight", check: preflight},
	{name: "workload.overrides.count", check: overridesCount, newInV1alpha2: true},
	{name: "workload.overrides.serviceAccountName", check: serviceAccountName, newInV1alpha2: true},
	{name: "workload.overrides.imagePullPolicy", check: imagePullPolicy},
	{name: "workload.overrides.imagePullSecrets", check: imagePullSecrets},
	{name: "workload.overrides.podLabels", check: podLabels},
	{name: "workload.overrides.podAnnotations", check: podAnnotations},
	{name: "workload.overrides.terminationGracePeriodSeconds", check: terminationGracePeriod, newInV1alpha2: true},
	{name: "workload.overrides.env", check: containerEnv, newInV1alpha2: true},
	{name: "workload.overrides.volumes", check: podVolumes, newInV1alpha2: true},
	{name: "workload.overrides.podTemplate", check: podTemplate},
	{name: "workload.overrides.own", check: ownNames, newInV1alpha2: true, runs: true},
	{name: "externalProviders.api", check: externalAPI},
	{name: "externalProviders.count", check: externalCount},
	{name: "externalProviders.id", check: eachExternal(externalID)},
	{name: "externalProviders.twice", check: externalTwice},
	{name: "externalProviders.image", check: eachExternal(externalImage)},
	{name: "externalProviders.imagePullPolicy", check: eachExternal(externalPullPolicy)},
	{name: "externalProviders.config", check: eachExternal(externalConfig)},
	{name: "externalProviders.secretRefs", check: eachExternal(externalSecrets)},
	{name: "modelFiles.one", check: modelFilesOne},
	{name: "modelFiles.claim", check: modelFilesClaim},
	{name: "modelFiles.image", check: modelFilesImage},
	{name: "modelFiles.directories", check: modelFilesDirectories},
	{name: "nesting", check: nesting},
}

// Spec returns the errors in an object, in the order of the rules, and warnings about valid values that are probably
// mistakes. For a v1alpha1 stack, it also returns warnings about violations of rules that are new in v1alpha2. It does
// not change the object, and never panics for any stored object. intent.Message of each error contains the field path,
// the value and the remedy, and never the value of a secret. Spec returns the first intent.MaxErrors errors and the
// number of further errors.
//
// The intent is the decoded spec. Without errors, it is complete, and all later steps use it. It is nil for a spec that
// is too large to be checked, or that could not be decoded as it is stored.
func Spec(stack *v1alpha2.LlamaStackDistribution) (in *intent.Intent, warnings []string, errs field.ErrorList) {
	in, warnings, tolerated, errs := judge(stack)
	return in, warnings, intent.Bounded(append(errs, tolerated...))
}

// Stored is like Spec, but for a stack that is stored in a cluster. Its pods may have run before a rule existed, so it
// returns the violations of rules that do not prevent this separately.
func Stored(
	stack *v1alpha2.LlamaStackDistribution,
) (in *intent.Intent, warnings []string, tolerated, errs field.ErrorList) {
	in, warnings, tolerated, errs = judge(stack)
	return in, warnings, intent.Bounded(tolerated), intent.Bounded(errs)
}

func judge(
	stack *v1alpha2.LlamaStackDistribution,
) (in *intent.Intent, warnings []string, tolerated, errs field.ErrorList) {
	if errs := unreadable(stack); len(errs) > 0 {
		return nil, nil, nil, errs
	}
	if errs := tooLarge(stack); len(errs) > 0 {
		return nil, nil, nil, errs
	}
	c := checksOf(stack)
	for _, r := range rules {
		c.failed = len(errs) > 0
		found := r.find(c)
		switch {
		case r.newInV1alpha2 && profile.Of(stack.Annotations).NewRulesWarn:
			for _, err := range found {
				warnings = append(warnings, intent.Message(err))
			}
		case r.runs:
			tolerated = append(tolerated, found...)
		default:
			errs = append(errs, found...)
		}
	}
	return c.intent, intent.BoundedTexts(append(warnings, suspicious(c)...)), tolerated, errs
}

// fromIntent reports the errors that the strict decoder found in providers, externalProviders, resources, storage,
// settings, removeSettings, secretEnv, disabled, port, workers, tls.secretName and secret references.
func fromIntent(c *checks) { c.Add(c.decodeErrors...) }

func spec(names ...string) *field.Path { return field.NewPath("spec", names...) }
