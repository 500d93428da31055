package v1alpha2

// Condition types. See docs/conditions.md for what each means to a user.
const (
	// ConditionReady: everything below holds and the rollout is complete.
	// False carries the first failing condition's reason.
	ConditionReady = "Ready"
	// ConditionValidationSucceeded: the spec makes sense and what it refers to exists.
	ConditionValidationSucceeded = "ValidationSucceeded"
	// ConditionSecretsResolved: every referenced Secret and key exists and is usable.
	ConditionSecretsResolved = "SecretsResolved"
	// ConditionConfigGenerated: the server has a configuration that boots.
	ConditionConfigGenerated = "ConfigGenerated"
	// ConditionDeploymentUpdated: every child was applied.
	ConditionDeploymentUpdated = "DeploymentUpdated"
	// ConditionAvailable: enough pods serve the current configuration.
	ConditionAvailable = "Available"
	// ConditionStorageReady: the volume claim is as the spec asks for. Only with
	// workload.storage.
	ConditionStorageReady = "StorageReady"
	// ConditionExposed: what exposes the stack outside of the cluster is in place. Only
	// with networking.expose.
	ConditionExposed = "Exposed"
	// ConditionDegraded is present only while True: it runs, but not as asked.
	ConditionDegraded = "Degraded"
	// ConditionDataLeftBehind is present only while True: the last change of the pods
	// left data behind that clients stored.
	ConditionDataLeftBehind = "DataLeftBehind"
	// ConditionAdopted False: a newer operator, or this one after an older,
	// renders the pods differently; the difference takes effect at the next change.
	ConditionAdopted = "Adopted"
	// ConditionStalled is kstatus' word for a failure that waits for a change.
	ConditionStalled = "Stalled"
	// ConditionReconciling is kstatus' word for work in progress.
	ConditionReconciling = "Reconciling"
)

// Reasons of ValidationSucceeded.
const (
	// ReasonSpecValid: nothing is wrong with the spec.
	ReasonSpecValid = "SpecValid"
	// ReasonInvalidSpec: the message lists each field, its value and the remedy.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForbiddenByBounds says that the operator's ConfigMap does not allow the
	// stack what its spec asks for.
	ReasonForbiddenByBounds = "ForbiddenByBounds"
	// ReasonUnknownDistribution: the name is not in the catalogue.
	ReasonUnknownDistribution = "UnknownDistribution"
	// ReasonConfigMapNotFound: a referenced ConfigMap does not exist.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonConfigMapKeyMissing: a referenced ConfigMap lacks the key.
	ReasonConfigMapKeyMissing = "ConfigMapKeyMissing"
	// ReasonConfigMapValueUnusable: certificates to trust that are none, or a private
	// key among them.
	ReasonConfigMapValueUnusable = "ConfigMapValueUnusable"
)

// Reasons of SecretsResolved.
const (
	// ReasonAllSecretsFound: every referenced Secret and key exists.
	ReasonAllSecretsFound = "AllSecretsFound"
	// ReasonNoSecretsReferenced: the spec refers to none.
	ReasonNoSecretsReferenced = "NoSecretsReferenced"
	// ReasonSecretNotFound: a referenced Secret does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretKeyMissing: a referenced Secret lacks the key.
	ReasonSecretKeyMissing = "SecretKeyMissing"
	// ReasonSecretValueUnusable: a value is empty, or one the server would turn
	// into a number or a bool and refuse.
	ReasonSecretValueUnusable = "SecretValueUnusable"
)

// Reasons of ConfigGenerated.
const (
	// ReasonConfigGenerationSucceeded: a configuration was generated.
	ReasonConfigGenerationSucceeded = "ConfigGenerationSucceeded"
	// ReasonOverrideConfigUsed: the user's own configuration runs.
	ReasonOverrideConfigUsed = "OverrideConfigUsed"
	// ReasonDistributionDefaultUsed: the image's configuration runs unchanged.
	ReasonDistributionDefaultUsed = "DistributionDefaultUsed"
	// ReasonConfigGenerationFailed: what was asked for gives no configuration
	// that boots; the message lists each field and the remedy.
	ReasonConfigGenerationFailed = "ConfigGenerationFailed"
	// ReasonMissingConfigLabels: the image carries no base configuration.
	ReasonMissingConfigLabels = "MissingConfigLabels"
	// ReasonBaseConfigRequired: a base is needed and reading images is off.
	ReasonBaseConfigRequired = "BaseConfigRequired"
	// ReasonBaseConfigUnavailable: the base cannot be read at the moment.
	ReasonBaseConfigUnavailable = "BaseConfigUnavailable"
	// ReasonReadingExternalProviders: the labels of external providers' images are being read.
	ReasonReadingExternalProviders = "ReadingExternalProviders"
	// ReasonUnsupportedConfigVersion: the base has a schema version nobody knows.
	ReasonUnsupportedConfigVersion = "UnsupportedConfigVersion"
	// ReasonUpgradeConfigFailure: the spec does not fit the release asked for.
	ReasonUpgradeConfigFailure = "UpgradeConfigFailure"
	// ReasonMissingProviderForResource: a resource has no provider to go to.
	ReasonMissingProviderForResource = "MissingProviderForResource"
)

// Reasons of DeploymentUpdated.
const (
	// ReasonDeploymentUpdateSucceeded: every child is applied.
	ReasonDeploymentUpdateSucceeded = "DeploymentUpdateSucceeded"
	// ReasonDeploymentUpdateFailed: the API server refused a child.
	ReasonDeploymentUpdateFailed = "DeploymentUpdateFailed"
	// ReasonOwnershipConflict: an object of a child's name belongs to someone else.
	ReasonOwnershipConflict = "OwnershipConflict"
	// ReasonPreflightInProgress: a change is tried in a pod of its own; the pods that
	// run stay as they are meanwhile.
	ReasonPreflightInProgress = "PreflightInProgress"
	// ReasonPreflightFailed: the pod in which a change is tried does not become ready;
	// the pods that run stay as they are.
	ReasonPreflightFailed = "PreflightFailed"
	// ReasonDeploymentPaused: the annotation llamastack.io/paused keeps the operator
	// from writing anything but the status.
	ReasonDeploymentPaused = "DeploymentPaused"
	// ReasonDataLossNotAccepted: a change leaves data behind that nothing brings back,
	// and no annotation of the stack accepts it; the pods that run stay as they are.
	ReasonDataLossNotAccepted = "DataLossNotAccepted"
)

// Reason of DataLeftBehind.
const (
	// ReasonDataLeftBehind: the message names the data, and how to take it along or
	// bring it back.
	ReasonDataLeftBehind = "DataLeftBehind"
)

// Reasons of Available.
const (
	// ReasonMinimumReplicasAvailable: the wanted pods serve the current configuration.
	ReasonMinimumReplicasAvailable = "MinimumReplicasAvailable"
	// ReasonScaledToZero: no pods, as asked for.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonReplicasUnavailable: too few pods serve.
	ReasonReplicasUnavailable = "ReplicasUnavailable"
	// ReasonRolloutInProgress: pods of the current configuration are starting.
	ReasonRolloutInProgress = "RolloutInProgress"
	// ReasonRolloutFailed: pods of the current configuration do not become ready.
	ReasonRolloutFailed = "RolloutFailed"
)

// Reasons of Exposed.
const (
	// ReasonExposureApplied: the Ingress, Route or HTTPRoute is applied, and nobody
	// refuses it.
	ReasonExposureApplied = "ExposureApplied"
	// ReasonHostnameTaken: another stack is exposed by the host name.
	ReasonHostnameTaken = "HostnameTaken"
	// ReasonExposureUnavailable: the cluster does not serve what stacks are exposed by.
	ReasonExposureUnavailable = "ExposureUnavailable"
	// ReasonExposureNotAccepted: a router or Gateway does not accept what the stack is
	// exposed by.
	ReasonExposureNotAccepted = "ExposureNotAccepted"
)

// Reasons of StorageReady.
const (
	// ReasonStorageReady: the volume claim is bound, or waits for its first pod.
	ReasonStorageReady = "StorageReady"
	// ReasonStorageLost: the volume behind the claim is gone.
	ReasonStorageLost = "StorageLost"
	// ReasonStorageResizeRefused: the claim cannot become as large as the spec says.
	ReasonStorageResizeRefused = "StorageResizeRefused"
	// ReasonStorageShrinkRefused: the spec asks for less than the claim requests.
	ReasonStorageShrinkRefused = "StorageShrinkRefused"
	// ReasonStorageChangeRefused: the spec asks for another class or other access modes
	// than the volume has, or the API server refuses another change of the claim.
	ReasonStorageChangeRefused = "StorageChangeRefused"
)

// Reasons of Degraded.
const (
	// ReasonRolledBack: a user rolled the Deployment back; the spec is not in force.
	ReasonRolledBack = "RolledBack"
	// ReasonSecretChangedToInvalid: a Secret in use became unusable; the pods
	// keep what they started with.
	ReasonSecretChangedToInvalid = "SecretChangedToInvalid"
	// ReasonAutoscalerInactive: the autoscaler does not scale, most often for want of
	// metrics; the pods keep their number.
	ReasonAutoscalerInactive = "AutoscalerInactive"
	// ReasonBaseConfigStale: the base in use cannot be read again; the pods keep the
	// configuration they started with.
	ReasonBaseConfigStale = "BaseConfigStale"
)

// Reasons shared by several conditions.
const (
	// ReasonInternalError: a defect of the operator, with what was attempted.
	ReasonInternalError = "InternalError"
	// ReasonRenderingDiffers: see ConditionAdopted.
	ReasonRenderingDiffers = "RenderingDiffers"
	// ReasonProgressing: work goes on.
	ReasonProgressing = "Progressing"
	// ReasonWaiting: an earlier condition must hold first.
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
	// EventExternalProviderOverride: an external provider takes the place of another one.
	EventExternalProviderOverride = "ExternalProviderOverride"
	// EventCertificateExpires: the server's certificate ends within 14 days.
	EventCertificateExpires = "CertificateExpires"
	EventAdopted            = "Adopted"
	// EventDataLeftBehind: a change that is about to be made leaves data behind.
	EventDataLeftBehind = "DataLeftBehind"
	// EventDataLossNotAccepted: a change waits, because nothing brings back what it
	// leaves behind.
	EventDataLossNotAccepted = "DataLossNotAccepted"
	// EventPreflightStarted: a pod was made to try a change in.
	EventPreflightStarted = "PreflightStarted"
	// EventPreflightFailed: the change does not start there.
	EventPreflightFailed = "PreflightFailed"
	// EventPreflightSkipped: a change was made without a try, because no pod for one
	// was let in or placed.
	EventPreflightSkipped = "PreflightSkipped"
	// EventServerReleaseDiffers: the running server is of another release than its
	// configuration was made for.
	EventServerReleaseDiffers = "ServerReleaseDiffers"
	// EventImageLabelsUnreadable: an image in place of the operator's own could not be
	// read, and the configuration is made from the operator's copy for its name; or the
	// image of an external provider, whose pods find out what it holds.
	EventImageLabelsUnreadable = "ImageLabelsUnreadable"
	// EventImageTagMoved: the tag of the image stands for another image in the registry than the one that runs.
	EventImageTagMoved = "ImageTagMoved"
	// EventExternalProviderFailed: an external provider does not get into the pods, or
	// keeps the server from starting.
	EventExternalProviderFailed = "ExternalProviderFailed"
	// EventExternalProviderDiffers: an external provider is ready and is not what its
	// label says, or not the same in all pods.
	EventExternalProviderDiffers = "ExternalProviderDiffers"
	// EventOtherOperator: an operator for v1alpha1 of another installation acts on the stack, so this one writes nothing.
	EventOtherOperator = "OtherOperator"
)

// Event reasons on the operator's own ConfigMap.
const (
	// EventInvalidOperatorConfig: a key cannot be read and keeps its last good state.
	EventInvalidOperatorConfig = "InvalidOperatorConfig"
	// EventWebhookCertificateFailed: the API server may not trust the operator's webhooks.
	EventWebhookCertificateFailed = "WebhookCertificateFailed"
)
