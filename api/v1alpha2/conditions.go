package v1alpha2

// Condition types. docs/conditions.md describes each of them for users.
const (
	// ConditionReady is True if all conditions below hold and the roll-out is complete. If it is False, it has the
	// reason of the first condition that does not hold.
	ConditionReady = "Ready"
	// ConditionValidationSucceeded is True if the spec is valid and the objects that it refers to exist.
	ConditionValidationSucceeded = "ValidationSucceeded"
	// ConditionSecretsResolved is True if every referenced Secret and key exists and is usable.
	ConditionSecretsResolved = "SecretsResolved"
	// ConditionConfigGenerated is True if the server has a configuration with which it can start.
	ConditionConfigGenerated = "ConfigGenerated"
	// ConditionDeploymentUpdated is True if every child was applied.
	ConditionDeploymentUpdated = "DeploymentUpdated"
	// ConditionAvailable is True if enough pods serve with the current configuration.
	ConditionAvailable = "Available"
	// ConditionStorageReady is True if the PersistentVolumeClaim matches the spec. It is present only with
	// workload.storage.
	ConditionStorageReady = "StorageReady"
	// ConditionExposed is True if the objects that expose the stack outside the cluster are in place. It is present
	// only with networking.expose.
	ConditionExposed = "Exposed"
	// ConditionDegraded is present only while True: the stack runs, but not as requested.
	ConditionDegraded = "Degraded"
	// ConditionDataLeftBehind is present only while True: the last change of the pods left data behind that clients
	// stored.
	ConditionDataLeftBehind = "DataLeftBehind"
	// ConditionAdopted is False if this operator renders the pods differently than an earlier one did. The difference
	// takes effect with the next change.
	ConditionAdopted = "Adopted"
	// ConditionStalled is the condition of kstatus for a failure that only a change fixes.
	ConditionStalled = "Stalled"
	// ConditionReconciling is the condition of kstatus for work in progress.
	ConditionReconciling = "Reconciling"
)

// Reasons of ValidationSucceeded.
const (
	// ReasonSpecValid means that the spec is valid.
	ReasonSpecValid = "SpecValid"
	// ReasonInvalidSpec means that the spec is invalid. The message lists each field, its value and the remedy.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForbiddenByBounds means that the operator's ConfigMap does not allow what the spec requests.
	ReasonForbiddenByBounds = "ForbiddenByBounds"
	// ReasonUnknownDistribution means that the name is not in the catalogue.
	ReasonUnknownDistribution = "UnknownDistribution"
	// ReasonConfigMapNotFound means that a referenced ConfigMap does not exist.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonConfigMapKeyMissing means that a referenced ConfigMap does not have the key.
	ReasonConfigMapKeyMissing = "ConfigMapKeyMissing"
	// ReasonConfigMapValueUnusable means that the certificates to trust are not valid, or contain a private key.
	ReasonConfigMapValueUnusable = "ConfigMapValueUnusable"
)

// Reasons of SecretsResolved.
const (
	// ReasonAllSecretsFound means that every referenced Secret and key exists.
	ReasonAllSecretsFound = "AllSecretsFound"
	// ReasonNoSecretsReferenced means that the spec does not refer to a Secret.
	ReasonNoSecretsReferenced = "NoSecretsReferenced"
	// ReasonSecretNotFound means that a referenced Secret does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretKeyMissing means that a referenced Secret does not have the key.
	ReasonSecretKeyMissing = "SecretKeyMissing"
	// ReasonSecretValueUnusable means that a value is empty, or that the server would convert it to a number or a
	// boolean and reject it.
	ReasonSecretValueUnusable = "SecretValueUnusable"
)

// Reasons of ConfigGenerated.
const (
	// ReasonConfigGenerationSucceeded means that a configuration was generated.
	ReasonConfigGenerationSucceeded = "ConfigGenerationSucceeded"
	// ReasonOverrideConfigUsed means that the user's own configuration runs.
	ReasonOverrideConfigUsed = "OverrideConfigUsed"
	// ReasonDistributionDefaultUsed means that the image's configuration runs unchanged.
	ReasonDistributionDefaultUsed = "DistributionDefaultUsed"
	// ReasonConfigGenerationFailed means that the spec does not result in a configuration with which the server can
	// start. The message lists each field and the remedy.
	ReasonConfigGenerationFailed = "ConfigGenerationFailed"
	// ReasonMissingConfigLabels means that the image's labels have no base configuration.
	ReasonMissingConfigLabels = "MissingConfigLabels"
	// ReasonBaseConfigRequired means that a base is required, and that reading images is disabled.
	ReasonBaseConfigRequired = "BaseConfigRequired"
	// ReasonBaseConfigUnavailable means that the base cannot be read at the moment.
	ReasonBaseConfigUnavailable = "BaseConfigUnavailable"
	// ReasonReadingExternalProviders means that the operator is reading the labels of external providers' images.
	ReasonReadingExternalProviders = "ReadingExternalProviders"
	// ReasonUnsupportedConfigVersion means that the base has an unknown schema version.
	ReasonUnsupportedConfigVersion = "UnsupportedConfigVersion"
	// ReasonUpgradeConfigFailure means that the spec does not fit the requested release.
	ReasonUpgradeConfigFailure = "UpgradeConfigFailure"
	// ReasonMissingProviderForResource means that there is no provider for a resource.
	ReasonMissingProviderForResource = "MissingProviderForResource"
)

// Reasons of DeploymentUpdated.
const (
	// ReasonDeploymentUpdateSucceeded means that every child is applied.
	ReasonDeploymentUpdateSucceeded = "DeploymentUpdateSucceeded"
	// ReasonDeploymentUpdateFailed means that the API server rejected a child.
	ReasonDeploymentUpdateFailed = "DeploymentUpdateFailed"
	// ReasonOwnershipConflict means that an object with the name of a child belongs to another owner.
	ReasonOwnershipConflict = "OwnershipConflict"
	// ReasonPreflightInProgress means that the operator tries a change in a separate pod. The running pods stay as they
	// are in the meantime.
	ReasonPreflightInProgress = "PreflightInProgress"
	// ReasonPreflightFailed means that the pod in which the operator tries a change does not become ready. The running
	// pods stay as they are.
	ReasonPreflightFailed = "PreflightFailed"
	// ReasonDeploymentPaused means that the annotation llamastack.io/paused allows the operator to write only the
	// status.
	ReasonDeploymentPaused = "DeploymentPaused"
	// ReasonDataLossNotAccepted means that a change permanently loses data, and that no annotation of the stack accepts
	// it. The running pods stay as they are.
	ReasonDataLossNotAccepted = "DataLossNotAccepted"
)

// Reason of DataLeftBehind.
const (
	// ReasonDataLeftBehind means that data was left behind. The message names the data, and how to move or restore it.
	ReasonDataLeftBehind = "DataLeftBehind"
)

// Reasons of Available.
const (
	// ReasonMinimumReplicasAvailable means that the wanted pods serve with the current configuration.
	ReasonMinimumReplicasAvailable = "MinimumReplicasAvailable"
	// ReasonScaledToZero means that there are no pods, as requested.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonReplicasUnavailable means that too few pods serve.
	ReasonReplicasUnavailable = "ReplicasUnavailable"
	// ReasonRolloutInProgress means that pods with the current configuration are starting.
	ReasonRolloutInProgress = "RolloutInProgress"
	// ReasonRolloutFailed means that pods with the current configuration do not become ready.
	ReasonRolloutFailed = "RolloutFailed"
)

// Reasons of Exposed.
const (
	// ReasonExposureApplied means that the Ingress, Route or HTTPRoute is applied, and that no controller rejects it.
	ReasonExposureApplied = "ExposureApplied"
	// ReasonHostnameTaken means that another stack is exposed by the host name.
	ReasonHostnameTaken = "HostnameTaken"
	// ReasonExposureUnavailable means that the cluster does not serve the kind that exposes the stack.
	ReasonExposureUnavailable = "ExposureUnavailable"
	// ReasonExposureNotAccepted means that a router or a Gateway does not accept the object that exposes the stack.
	ReasonExposureNotAccepted = "ExposureNotAccepted"
)

// Reasons of StorageReady.
const (
	// ReasonStorageReady means that the PersistentVolumeClaim is bound, or waits for its first pod.
	ReasonStorageReady = "StorageReady"
	// ReasonStorageLost means that the volume of the claim no longer exists.
	ReasonStorageLost = "StorageLost"
	// ReasonStorageResizeRefused means that the claim cannot grow to the size in the spec.
	ReasonStorageResizeRefused = "StorageResizeRefused"
	// ReasonStorageShrinkRefused means that the spec requests less than the claim does.
	ReasonStorageShrinkRefused = "StorageShrinkRefused"
	// ReasonStorageChangeRefused means that the spec requests another class or other access modes than the volume has,
	// or that the API server rejects another change of the claim.
	ReasonStorageChangeRefused = "StorageChangeRefused"
)

// Reasons of Degraded.
const (
	// ReasonRolledBack means that a user rolled the Deployment back, so that the spec is not in force.
	ReasonRolledBack = "RolledBack"
	// ReasonSecretChangedToInvalid means that a Secret in use became unusable. The pods keep the values that they
	// started with.
	ReasonSecretChangedToInvalid = "SecretChangedToInvalid"
	// ReasonAutoscalerInactive means that the autoscaler does not scale, usually because it has no metrics. The number
	// of pods stays the same.
	ReasonAutoscalerInactive = "AutoscalerInactive"
	// ReasonBaseConfigStale means that the base in use cannot be read again. The pods keep the configuration that they
	// started with.
	ReasonBaseConfigStale = "BaseConfigStale"
)

// Reasons shared by several conditions.
const (
	// ReasonInternalError means a defect of the operator. The message names the failed action.
	ReasonInternalError = "InternalError"
	// ReasonRenderingDiffers is the reason of ConditionAdopted.
	ReasonRenderingDiffers = "RenderingDiffers"
	// ReasonProgressing means that work is in progress.
	ReasonProgressing = "Progressing"
	// ReasonWaiting means that an earlier condition must hold first.
	ReasonWaiting = "Waiting"
)

// Event reasons. Events are emitted only when something changed.
const (
	EventConfigGenerated        = "ConfigGenerated"
	EventDeploymentUpdated      = "DeploymentUpdated"
	EventConfigGenerationFailed = "ConfigGenerationFailed"
	EventSecretResolutionFailed = "SecretResolutionFailed"
	EventProviderIgnored        = "ProviderIgnored"
	EventConfigWarning          = "ConfigWarning"
	EventRolledBack             = "RolledBack"
	// EventExternalProviderOverride means that an external provider replaces another provider.
	EventExternalProviderOverride = "ExternalProviderOverride"
	// EventCertificateExpires means that the server's certificate expires within 14 days.
	EventCertificateExpires = "CertificateExpires"
	EventAdopted            = "Adopted"
	// EventDataLeftBehind means that a change that is about to be applied leaves data behind.
	EventDataLeftBehind = "DataLeftBehind"
	// EventDataLossNotAccepted means that a change waits, because it permanently loses data.
	EventDataLossNotAccepted = "DataLossNotAccepted"
	// EventPreflightStarted means that a pod was created in which the operator tries a change.
	EventPreflightStarted = "PreflightStarted"
	// EventPreflightFailed means that the change does not start in that pod.
	EventPreflightFailed = "PreflightFailed"
	// EventPreflightSkipped means that a change was applied without a preflight, because its pod was rejected or no
	// node had room for it.
	EventPreflightSkipped = "PreflightSkipped"
	// EventServerReleaseDiffers means that the running server has another release than the one that its configuration
	// was made for.
	EventServerReleaseDiffers = "ServerReleaseDiffers"
	// EventImageLabelsUnreadable means that an image that replaces the operator's own could not be read, and that the
	// configuration is made from the operator's copy for its name. It can also mean that the image of an external
	// provider could not be read, and that its pods determine its content.
	EventImageLabelsUnreadable = "ImageLabelsUnreadable"
	// EventImageTagMoved means that the tag of the image refers to another image in the registry than the running one.
	EventImageTagMoved = "ImageTagMoved"
	// EventExternalProviderFailed means that an external provider cannot be installed in the pods, or prevents the
	// server from starting.
	EventExternalProviderFailed = "ExternalProviderFailed"
	// EventExternalProviderDiffers means that an external provider is ready, but differs from its label or between the
	// pods.
	EventExternalProviderDiffers = "ExternalProviderDiffers"
	// EventOtherOperator means that an operator for v1alpha1 of another installation acts on the stack, so that this
	// operator writes nothing.
	EventOtherOperator = "OtherOperator"
)

// Event reasons on the operator's own ConfigMap.
const (
	// EventInvalidOperatorConfig means that a key cannot be read and keeps its last good state.
	EventInvalidOperatorConfig = "InvalidOperatorConfig"
	// EventWebhookCertificateFailed means that the API server may not trust the operator's webhooks.
	EventWebhookCertificateFailed = "WebhookCertificateFailed"
)
