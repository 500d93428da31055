package v1alpha1

// These are the condition types that only v1alpha1 has. The conversion derives each of them from a v1alpha2 condition.
// The other types have the same names as in v1alpha2.
const (
	// ConditionDeploymentReady is derived from Available.
	ConditionDeploymentReady = "DeploymentReady"
	// ConditionHealthCheck is derived from Available.
	ConditionHealthCheck = "HealthCheck"
	// ConditionServiceReady is True if there is a serviceURL. Without a serviceURL, it has the status of DeploymentUpdated
	// until that condition is True. After that, a stack without a Service does not have the condition ServiceReady.
	ConditionServiceReady = "ServiceReady"
	// ConditionConfigReady is derived from ConfigGenerated.
	ConditionConfigReady = "ConfigReady"
)

// These are the reasons of the conditions that only v1alpha1 has. ConfigReady has the reasons of ConfigGenerated. A
// condition that is Unknown has the reason of the condition from which it is derived.
const (
	// ReasonDeploymentReady means that the rollout is complete.
	ReasonDeploymentReady = "DeploymentReady"
	// ReasonDeploymentFailed means that too few pods serve requests with the current configuration. The message of the
	// condition Available states the cause.
	ReasonDeploymentFailed = "DeploymentFailed"
	// ReasonHealthCheckPassed means that every pod passes its readiness probe.
	ReasonHealthCheckPassed = "HealthCheckPassed"
	// ReasonHealthCheckFailed means that a pod does not pass its readiness probe.
	ReasonHealthCheckFailed = "HealthCheckFailed"
	// ReasonServiceReady means that the Service exists, even if its last change failed.
	ReasonServiceReady = "ServiceReady"
	// ReasonServiceFailed means that the Service is not applied. The message of the condition DeploymentUpdated states the
	// cause.
	ReasonServiceFailed = "ServiceFailed"
)
