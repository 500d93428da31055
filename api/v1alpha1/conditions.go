package v1alpha1

// Condition types that only v1alpha1 has. The conversion derives each from a
// condition of v1alpha2. The others are v1alpha2's, under the same names.
const (
	// ConditionDeploymentReady follows Available.
	ConditionDeploymentReady = "DeploymentReady"
	// ConditionHealthCheck follows Available.
	ConditionHealthCheck = "HealthCheck"
	// ConditionServiceReady is True with a serviceURL; without one it follows
	// DeploymentUpdated until there is a Service. A stack without a Service has none.
	ConditionServiceReady = "ServiceReady"
	// ConditionConfigReady follows ConfigGenerated.
	ConditionConfigReady = "ConfigReady"
)

// Reasons of those conditions. ConfigReady has the reasons of ConfigGenerated. A
// condition that is Unknown has the reason of the one that it follows.
const (
	// ReasonDeploymentReady: the roll-out is complete.
	ReasonDeploymentReady = "DeploymentReady"
	// ReasonDeploymentFailed: it is not, yet or any more; Available says why.
	ReasonDeploymentFailed = "DeploymentFailed"
	// ReasonHealthCheckPassed: every pod passes its readiness probe.
	ReasonHealthCheckPassed = "HealthCheckPassed"
	// ReasonHealthCheckFailed: some pod does not.
	ReasonHealthCheckFailed = "HealthCheckFailed"
	// ReasonServiceReady: the Service is applied.
	ReasonServiceReady = "ServiceReady"
	// ReasonServiceFailed: it is not; DeploymentUpdated says why.
	ReasonServiceFailed = "ServiceFailed"
)
