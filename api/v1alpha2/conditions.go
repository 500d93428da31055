package v1alpha2

// `make generate-docs` writes docs/reference/conditions.md and docs/reference/events.md from the comments in this file.
// The comment on a reason is "NAME means that …", then optional sentences, then "Status: …" or "Event: …".

// Condition types.
const (
	// ConditionReady is True if the stack runs as requested. It summarizes the conditions from ValidationSucceeded to
	// Available. Its reason is the reason of the first of these conditions that is not True, and its message names that
	// condition. If none of them is False or Unknown, its reason is the reason of Available, or RolledBack after a
	// rollback.
	ConditionReady = "Ready"
	// ConditionValidationSucceeded is True if the spec is valid, the operator's bounds allow it, and the referenced
	// ConfigMaps and keys exist and are usable.
	ConditionValidationSucceeded = "ValidationSucceeded"
	// ConditionSecretsResolved is True if every referenced Secret and key exists and is usable.
	ConditionSecretsResolved = "SecretsResolved"
	// ConditionConfigGenerated is True if the server has a configuration that it can start with.
	ConditionConfigGenerated = "ConfigGenerated"
	// ConditionDeploymentUpdated is True if the operator has applied every child object. The child objects of a stack are
	// the objects that the operator creates for the stack.
	ConditionDeploymentUpdated = "DeploymentUpdated"
	// ConditionStorageReady is True if the PersistentVolumeClaim matches the spec. A stack has this condition only if
	// workload.storage is set. If the operator or the API server refuses a change to the PersistentVolumeClaim, the
	// PersistentVolumeClaim does not change, and the operator applies all other changes.
	ConditionStorageReady = "StorageReady"
	// ConditionExposed is True if the objects that expose the stack outside the cluster are in place. A stack has this
	// condition only if networking.expose is set. The condition does not describe access inside the cluster.
	ConditionExposed = "Exposed"
	// ConditionAvailable is True if enough pods serve requests with the current configuration. Otherwise, if a pod has a
	// problem, the message describes this problem.
	ConditionAvailable = "Available"
	// ConditionDegraded exists only while the stack runs in a state that differs from the requested one.
	ConditionDegraded = "Degraded"
	// ConditionDataLeftBehind exists after a change to the pods has left data behind, until the next change to the pods.
	// It also exists while the server of a stack with workload.storage stores data in files that are not on a volume. The
	// message names the data and explains how to move or restore it.
	ConditionDataLeftBehind = "DataLeftBehind"
	// ConditionAdopted is False while the pods have a template that this operator would write differently. The message
	// states the difference. The new template takes effect with the next change, or when you run kubectl rollout restart.
	ConditionAdopted = "Adopted"
	// ConditionStalled exists while the stack cannot proceed unless you change something. It also exists while a rollout
	// is past its deadline, although that rollout can still succeed. Tools that follow kstatus report such a stack as
	// failed. The message names the condition that has the details.
	ConditionStalled = "Stalled"
	// ConditionReconciling exists while the operator applies a change or waits for a result. Tools that follow kstatus
	// read this condition. The message names the condition that has the details.
	ConditionReconciling = "Reconciling"
)

// Reasons of ValidationSucceeded.
const (
	// ReasonSpecValid means that the spec is valid. Status: True.
	ReasonSpecValid = "SpecValid"
	// ReasonInvalidSpec means that the spec is invalid. The message lists each field, its value and the remedy.
	// Status: False.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForbiddenByBounds means that the bounds in the operator's ConfigMap do not allow a part of the spec.
	// Status: False.
	ReasonForbiddenByBounds = "ForbiddenByBounds"
	// ReasonUnknownDistribution means that the name of the distribution is neither in the catalog nor in the key
	// image-overrides of the operator's ConfigMap. Status: False.
	ReasonUnknownDistribution = "UnknownDistribution"
	// ReasonConfigMapNotFound means that a referenced ConfigMap does not exist. Status: False.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonConfigMapKeyMissing means that a referenced ConfigMap does not contain the referenced key. Status: False.
	ReasonConfigMapKeyMissing = "ConfigMapKeyMissing"
	// ReasonConfigMapValueUnusable means that a ConfigMap with certificates to trust contains no certificate, an entry
	// that is not a valid certificate, or a private key. Status: False.
	ReasonConfigMapValueUnusable = "ConfigMapValueUnusable"
)

// Reasons of SecretsResolved.
const (
	// ReasonAllSecretsFound means that every referenced Secret and key exists. If a certificate expires within 14 days,
	// the message names the certificate and the date. Status: True.
	ReasonAllSecretsFound = "AllSecretsFound"
	// ReasonNoSecretsReferenced means that the spec does not refer to a Secret. Status: True.
	ReasonNoSecretsReferenced = "NoSecretsReferenced"
	// ReasonSecretNotFound means that a referenced Secret does not exist. Status: False.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretKeyMissing means that a referenced Secret does not contain the referenced key. Status: False.
	ReasonSecretKeyMissing = "SecretKeyMissing"
	// ReasonSecretValueUnusable means that the server cannot use a value. For example, the value is empty, a certificate
	// has expired or does not match its key, or the server would convert a string to a number or a boolean and reject it.
	// Status: False.
	ReasonSecretValueUnusable = "SecretValueUnusable"
)

// Reasons of ConfigGenerated.
const (
	// ReasonConfigGenerationSucceeded means that a configuration was generated. Status: True.
	ReasonConfigGenerationSucceeded = "ConfigGenerationSucceeded"
	// ReasonOverrideConfigUsed means that your own configuration is used. Status: True.
	ReasonOverrideConfigUsed = "OverrideConfigUsed"
	// ReasonDistributionDefaultUsed means that the configuration in the image is used unchanged. Status: True.
	ReasonDistributionDefaultUsed = "DistributionDefaultUsed"
	// ReasonConfigGenerationFailed means that the spec does not result in a configuration that the server can start
	// with. The message lists each field and the remedy. Status: False.
	ReasonConfigGenerationFailed = "ConfigGenerationFailed"
	// ReasonMissingProviderForResource means that a resource has no provider. Status: False.
	ReasonMissingProviderForResource = "MissingProviderForResource"
	// ReasonMissingConfigLabels means that the labels of the image contain no base configuration. Status: False.
	ReasonMissingConfigLabels = "MissingConfigLabels"
	// ReasonBaseConfigRequired means that the spec requires a base configuration, and the operator is configured not to
	// read images. Status: False.
	ReasonBaseConfigRequired = "BaseConfigRequired"
	// ReasonBaseConfigUnavailable means that the operator has not read the image that contains the base configuration. The
	// status is Unknown during the first attempt, and after an error from which the operator can recover by itself. The
	// status is False if a user must change something. Status: False or Unknown.
	ReasonBaseConfigUnavailable = "BaseConfigUnavailable"
	// ReasonUnsupportedConfigVersion means that the base configuration has an unsupported schema version. Status: False.
	ReasonUnsupportedConfigVersion = "UnsupportedConfigVersion"
	// ReasonReadingExternalProviders means that the operator is reading the labels of the external providers' images.
	// Status: Unknown.
	ReasonReadingExternalProviders = "ReadingExternalProviders"
	// ReasonUpgradeConfigFailure means that the spec is valid for the running release, but not for the requested release.
	// Status: False.
	ReasonUpgradeConfigFailure = "UpgradeConfigFailure"
)

// Reasons of DeploymentUpdated.
const (
	// ReasonDeploymentUpdateSucceeded means that every child object is applied. Status: True.
	ReasonDeploymentUpdateSucceeded = "DeploymentUpdateSucceeded"
	// ReasonDeploymentUpdateFailed means that the API server rejected a child object, or a child object needs too much
	// memory. The message has one line for each rejection. Status: False.
	ReasonDeploymentUpdateFailed = "DeploymentUpdateFailed"
	// ReasonOwnershipConflict means that an existing object has the same name as a child object. The existing object has a
	// controller other than the stack, or has neither a controller nor the stack's labels. Status: False.
	ReasonOwnershipConflict = "OwnershipConflict"
	// ReasonPreflightInProgress means that the operator is testing the change in the pod that the message names. The
	// running pods do not change. Status: Unknown.
	ReasonPreflightInProgress = "PreflightInProgress"
	// ReasonPreflightFailed means that the pod in which the operator tests the change does not become ready. The message
	// describes the pod's problem. The running pods do not change. Status: False.
	ReasonPreflightFailed = "PreflightFailed"
	// ReasonDataLossNotAccepted means that the change would make data unrecoverable. The operator applies the change only
	// after you accept the loss. Until then, the running pods do not change. Status: False.
	ReasonDataLossNotAccepted = "DataLossNotAccepted"
	// ReasonDeploymentPaused means that the annotation llamastack.io/paused allows the operator to write only the status.
	// The message states whether a change to the pods is pending. Status: Unknown.
	ReasonDeploymentPaused = "DeploymentPaused"
)

// Reasons of StorageReady.
const (
	// ReasonStorageReady means that the PersistentVolumeClaim matches the spec. The PersistentVolumeClaim might still be
	// waiting for its first pod, or growing. Status: True.
	ReasonStorageReady = "StorageReady"
	// ReasonStorageLost means that the volume of the PersistentVolumeClaim no longer exists. Status: False.
	ReasonStorageLost = "StorageLost"
	// ReasonStorageResizeRefused means that the PersistentVolumeClaim cannot grow to the size in the spec.
	// Status: False.
	ReasonStorageResizeRefused = "StorageResizeRefused"
	// ReasonStorageShrinkRefused means that the spec requests a smaller volume than the PersistentVolumeClaim does.
	// Status: False.
	ReasonStorageShrinkRefused = "StorageShrinkRefused"
	// ReasonStorageChangeRefused means that the spec requests a storage class or access modes that differ from those of
	// the volume, or the API server rejects another change to the PersistentVolumeClaim. Status: False.
	ReasonStorageChangeRefused = "StorageChangeRefused"
)

// Reasons of Exposed.
const (
	// ReasonExposureApplied means that the stack is exposed. The message names the Ingress, Route or HTTPRoute.
	// Status: True.
	ReasonExposureApplied = "ExposureApplied"
	// ReasonHostnameTaken means that another stack uses the host name. Status: False.
	ReasonHostnameTaken = "HostnameTaken"
	// ReasonExposureUnavailable means that the cluster does not serve the kind that exposes the stack. Status: False.
	ReasonExposureUnavailable = "ExposureUnavailable"
	// ReasonExposureNotAccepted means that a router or Gateway does not accept the Route, the HTTPRoute or the
	// BackendTLSPolicy. The message quotes the reason that the router or Gateway reports. Status: False.
	ReasonExposureNotAccepted = "ExposureNotAccepted"
)

// Reasons of Available.
const (
	// ReasonMinimumReplicasAvailable means that the requested number of pods serve requests with the current
	// configuration. Status: True.
	ReasonMinimumReplicasAvailable = "MinimumReplicasAvailable"
	// ReasonScaledToZero means that the stack has no pods, as requested. Status: True.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonRolloutInProgress means that pods with the current configuration are starting. Status: False.
	ReasonRolloutInProgress = "RolloutInProgress"
	// ReasonReplicasUnavailable means that pods became unavailable after the rollout was complete. Status: False.
	ReasonReplicasUnavailable = "ReplicasUnavailable"
	// ReasonRolloutFailed means that pods with the current configuration do not become ready. The message describes the
	// pod's problem. Status: False.
	ReasonRolloutFailed = "RolloutFailed"
)

// Reasons of Degraded.
const (
	// ReasonRolledBack means that a user rolled the Deployment back. The operator keeps that state until the spec, or a
	// Secret or ConfigMap to which the spec refers, changes. Status: True.
	ReasonRolledBack = "RolledBack"
	// ReasonSecretChangedToInvalid means that a Secret in use is missing or unusable. The pods keep the values that they
	// started with. The message names the condition that has the details. Status: True.
	ReasonSecretChangedToInvalid = "SecretChangedToInvalid"
	// ReasonBaseConfigStale means that the operator cannot read the base configuration again, or cannot compare the
	// running image with its tag. The pods keep the configuration and the image that they started with. Status: True.
	ReasonBaseConfigStale = "BaseConfigStale"
	// ReasonAutoscalerInactive means that the autoscaler does not scale, usually because it has no metrics. The message
	// quotes the autoscaler's condition. The number of pods does not change. The condition Degraded appears if the pods
	// have served requests for three minutes and the autoscaler has been unable to scale for three minutes. Status: True.
	ReasonAutoscalerInactive = "AutoscalerInactive"
)

// Reasons of DataLeftBehind.
const (
	// ReasonDataLeftBehind means that the last change to the pods left data behind. Status: True.
	ReasonDataLeftBehind = "DataLeftBehind"
	// ReasonDataNotOnVolume means that data of the server is not on a volume, or not with certainty, although
	// workload.storage is set. Every rollout deletes data that is not on a volume. Status: True.
	ReasonDataNotOnVolume = "DataNotOnVolume"
)

// Reasons of Adopted.
const (
	// ReasonRenderingDiffers means that an earlier version of the operator created the pods, and the running version would
	// write their template differently. Status: False.
	ReasonRenderingDiffers = "RenderingDiffers"
)

// Reasons of several conditions.
const (
	// ReasonWaiting means that an earlier condition must be True first. Status: Unknown.
	ReasonWaiting = "Waiting"
	// ReasonInternalError means that an unexpected error occurred in the operator: the operator has a defect, or the roles
	// in the cluster do not grant a permission that the released roles grant. The message names the failed action, and the
	// operator's log contains the details. Status: False.
	ReasonInternalError = "InternalError"
	// ReasonProgressing means that work is in progress. This reason never appears in the status.
	ReasonProgressing = "Progressing"
)

// Event reasons on a stack.
const (
	// EventDeploymentUpdated means that the operator applied a change to the Deployment. Event: Normal.
	EventDeploymentUpdated = "DeploymentUpdated"
	// EventDeploymentUpdateFailed means that the API server rejected an object of the stack. Event: Warning.
	EventDeploymentUpdateFailed = "DeploymentUpdateFailed"
	// EventConfigGenerationFailed means that the condition ConfigGenerated is False. Event: Warning.
	EventConfigGenerationFailed = "ConfigGenerationFailed"
	// EventSecretResolutionFailed means that the condition SecretsResolved is False. Event: Warning.
	EventSecretResolutionFailed = "SecretResolutionFailed"
	// EventProviderIgnored means that a part of the spec has no effect. Event: Warning.
	EventProviderIgnored = "ProviderIgnored"
	// EventConfigWarning means that there are warnings about a new spec. It has their number and the first one; the field
	// status.warnings has all. Event: Warning.
	EventConfigWarning = "ConfigWarning"
	// EventRolledBack means that a user rolled the Deployment back. Event: Warning.
	EventRolledBack = "RolledBack"
	// EventExternalProviderOverride means that an external provider replaces another provider. Event: Warning.
	EventExternalProviderOverride = "ExternalProviderOverride"
	// EventExternalProviderFailed means that an external provider cannot be installed in the pods, or prevents the
	// server from starting. Event: Warning.
	EventExternalProviderFailed = "ExternalProviderFailed"
	// EventExternalProviderDiffers means that an external provider is ready, but differs from the spec, from its label, or
	// between pods. The event describes the difference. Event: Warning.
	EventExternalProviderDiffers = "ExternalProviderDiffers"
	// EventCertificateExpires means that the server's certificate expires within 14 days. Event: Warning.
	EventCertificateExpires = "CertificateExpires"
	// EventAdopted means that the operator adopted an object that had no controller. Event: Normal.
	EventAdopted = "Adopted"
	// EventDataLeftBehind means that the operator is about to apply a change that leaves data behind. Event: Warning.
	EventDataLeftBehind = "DataLeftBehind"
	// EventDataLossNotAccepted means that the operator does not apply a change, because the change would cause a permanent
	// loss of data. Event: Warning.
	EventDataLossNotAccepted = "DataLossNotAccepted"
	// EventPreflightStarted means that the operator created a pod in which it tests a change. Event: Normal.
	EventPreflightStarted = "PreflightStarted"
	// EventPreflightFailed means that the pod in which the operator tests a change does not become ready. Event: Warning.
	EventPreflightFailed = "PreflightFailed"
	// EventPreflightSkipped means that the operator applied a change without testing it, for example because the API
	// server rejected the pod for the test, or no node had room for this pod. The event states why. Event: Warning.
	EventPreflightSkipped = "PreflightSkipped"
	// EventServerReleaseDiffers means that the release of the running server differs from the release for which its
	// configuration was generated. Event: Warning.
	EventServerReleaseDiffers = "ServerReleaseDiffers"
	// EventImageLabelsUnreadable means that the operator cannot read the labels of an image. Event: Warning.
	EventImageLabelsUnreadable = "ImageLabelsUnreadable"
	// EventImageTagMoved means that the image's tag in the registry now refers to an image other than the one that runs.
	// The event names both digests. Event: Normal.
	EventImageTagMoved = "ImageTagMoved"
	// EventOtherOperator means that the operator of another installation, which supports only v1alpha1, manages the stack.
	// The operator that records the event does not change the stack while the other operator manages it. Event: Warning.
	EventOtherOperator = "OtherOperator"
)

// Event reasons on other objects.
const (
	// EventInvalidOperatorConfig means that a key of the operator's ConfigMap is unknown or has an invalid value. An
	// unknown key has no effect. For any other key, the operator keeps the last valid value, if there is one. The event is
	// on the operator's ConfigMap. Event: Warning.
	EventInvalidOperatorConfig = "InvalidOperatorConfig"
	// EventWebhookCertificateFailed means that the API server might not trust the operator's webhooks. If the event is on
	// the Secret with their certificates, the operator cannot store the Secret, or cannot read the object to which it must
	// write its certificate authority. If the event is on the CustomResourceDefinition or the
	// ValidatingWebhookConfiguration, the operator cannot write its certificate authority to that object. Event: Warning.
	EventWebhookCertificateFailed = "WebhookCertificateFailed"
)
