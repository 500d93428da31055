package redact

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// This file lists everything that is known to be good. The package withholds the text at every other place, so a new
// field is withheld until it is listed here. An entry is the name of a field at any depth, or the names of a field
// and of the field that contains it ("container.field"). "container.*" means every field in a container. A field is
// shown only if all the fields that contain it are listed as inner or enter.

// objectPlaces lists the places in Kubernetes objects.
var objectPlaces = compiled(map[form]string{
	inner: `
		metadata spec status template ownerReferences labels annotations selector matchLabels matchExpressions
		selector.matchLabels selector.matchExpressions data
		containers initContainers ephemeralContainers env valueFrom secretKeyRef configMapKeyRef fieldRef resourceFieldRef
		fileKeyRef envFrom configMapRef secretRef ports volumeMounts resources limits requests claims volumes configMap secret
		projected sources downwardAPI items emptyDir persistentVolumeClaim ephemeral volumeClaimTemplate hostPath csi
		volumes.image serviceAccountToken clusterTrustBundle podCertificate livenessProbe readinessProbe startupProbe httpGet
		tcpSocket grpc exec lifecycle preStop postStart sleep securityContext capabilities seccompProfile appArmorProfile
		affinity nodeAffinity podAffinity podAntiAffinity nodeSelector nodeSelectorTerms podAffinityTerm labelSelector
		requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution preference tolerations
		topologySpreadConstraints imagePullSecrets strategy rollingUpdate conditions containerStatuses
		initContainerStatuses state lastState running waiting terminated podIPs hostIPs
		scaleTargetRef metrics metrics.resource target behavior scaleUp scaleDown policies currentMetrics
		currentMetrics.resource current ingress egress from to podSelector namespaceSelector ipBlock rules http paths backend
		defaultBackend service service.port tls loadBalancer parentRefs backendRefs matches matches.path parents parentRef
		timeouts capacity dataSource dataSourceRef acceptedNames storedVersions webhooks
		involvedObject regarding related source series secrets
		distribution baseConfig overrideConfig storage kv sql password connectionString networking caBundle expose
		allowedFrom workload overrides podTemplate autoscaling podDisruptionBudget externalProviders modelFiles
		podLabels podAnnotations userAnnotations resolvedDistribution configGeneration status.providers
		distributionConfig distributionConfig.providers availableDistributions health version status.models mcpServers
		server containerSpec podOverrides userConfig tlsConfig network exposeRoute`,
	enter: `providers settings resources.models resources.tools resources.shields config data.*`,
	name: `
		apiVersion kind metadata.name metadata.namespace name namespace uid generateName resourceVersion creationTimestamp
		deletionTimestamp image imageID containerID secretName nodeName configMapName claimName serviceAccountName
		serviceAccount apiGroup secretKeyRef.key configMapKeyRef.key fileKeyRef.key items.key matchExpressions.key
		tolerations.key baseConfig.key overrideConfig.key group containerName volumeName configMapNamespace configMapKeys`,
	plain: `
		finalizers type conditions.status health.status reason phase reference pullPolicy imagePullPolicy
		restartPolicy dnsPolicy schedulerName
		priorityClassName runtimeClassName protocol appProtocol port targetPort nodePort operator fieldPath
		resource divisor medium sizeLimit mountPropagation scheme signerName audience keyType
		level drop add effect topologyKey matchLabelKeys whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy
		conditions.message waiting.message status.message health.message externalProviders.message
		terminationMessagePolicy qosClass hostIP podIP ip startTime startedAt finishedAt lastProbeTime
		lastTransitionTime lastUpdateTime lastUpdated lastScaleTime generatedAt signal resizePolicy
		maxSurge maxUnavailable minAvailable selectPolicy policyTypes cidr except pathType weight
		limits.* requests.* capacity.* accessModes volumeMode storageClassName volumeAttributesClassName size
		clusterIP clusterIPs ipFamilies ipFamilyPolicy sessionAffinity internalTrafficPolicy externalTrafficPolicy
		loadBalancerClass ingressClassName termination insecureEdgeTerminationPolicy wildcardPolicy sectionName
		hostname host hostnames controllerName request backendRequest tlsSecretName
		component action reportingController reportingComponent reportingInstance firstTimestamp lastTimestamp eventTime
		driver fsType availableDistributions.* baseProviders imageUpdates distribution.version
		resolvedDistribution.version api
		provider_id provider_type provider providerId id disabled removeSettings namespaces preflight initContainerName
		catalogueImage configHash configSource imageFrom digest serverRelease serverReleaseFrom tagDigest configVersion
		llamaStackServerVersion operatorVersion activeDistribution generatedConfigMap status.selector
		runAsUser runAsGroup fsGroup supplementalGroups observedGeneration generation`,
	address: `
		path mountPath subPath workingDir endpoint serviceURL routeURL terminationMessagePath externalName ourEnv.value`,
	program: `command args`,
}, slices.Concat(
	below("labels", labels), below("selector", labels), below("annotations", annotations), []string{"ourEnv.name"},
)...)

// settingPlaces lists the places in configurations of the server, in the parts of them that a stack contains, and in
// the operator's ConfigMap.
var settingPlaces = compiled(map[form]string{
	inner: `
		providers providers.* config settings storage backends backends.* stores stores.* server metadata_store
		inference_store conversations_store persistence kvstore kv_store sqlstore sql_store store responses agent_state
		persistence_store inference models shields tool_groups vector_stores connectors registered_resources
		auth provider_config route_policy tls
		secretKeyRef apiKey secretRefs secretRefs.*
		default_embedding_model default_reranker_model vector_stores_config safety vector_index
		context_prompt_params annotation_prompt_params file_search_params file_ingestion_params chunk_retrieval_params
		file_batch_params contextual_retrieval_params datasets scoring_fns benchmarks conversations prompts
		externalProviders namespaceLabels enableNetworkPolicy rewrite`,
	plain: `
		version image_name distro_name apis api provider_id provider_type provider provider_model_id provider_shield_id
		id model model_id model_type modelType name secretKeyRef.key module shield_id toolgroup_id connector_id connector_type
		embedding_dimension embeddingDimension default_provider_id default_shield_id backend namespace table_name type db
		database num_writers max_write_queue_size max_results max_tokens maxTokens timeout timeout_seconds max_retries retries
		context_length region region_name location project_id api_version api_type verify tls_verify verify_tls
		trust_remote_code distance_metric m ef_construction ef_search use_https ssl_mode mode dimension
		refresh_models allowed_models port workers ttl_seconds chunk_multiplier image disabled disableAPIs
		default_chunk_size_tokens default_chunk_overlap_tokens max_tokens_in_context default_reranker_strategy
		rrf_impact_factor weighted_search_alpha max_concurrent_files_per_batch file_batch_chunk_size
		cleanup_interval_seconds default_timeout_seconds default_max_concurrency max_document_tokens
		external_providers_dir default_search_mode auth_mechanism append_api_version checkpoint_format
		annotation_instruction_template chunk_annotation_template context_template header_template footer_template
		image-overrides.* namespaces images serviceAccounts podSecurity stacks domains ingressClasses
		ingressAnnotations enabled domain className allow insecure cloudIdentity rewrite.* checkInterval
		controllerNamespaces sectionName`,
	address: `
		base_url url uri endpoint host mcpEndpoint endpoint_url issuer db_path storage_dir weaviate_cluster_url
		elasticsearch_url persist_directory tls_certfile tls_keyfile tls_cafile path`,
	program: `command args`,
}, below("namespaceLabels", labels)...)

// closed lists the fields whose keys a user chooses, so that only the listed keys are shown. aliases gives fields of
// this kind the name of the field in the tables.
var (
	closed  = []string{"labels", "selector", "annotations", "namespaceLabels"}
	aliases = map[string]string{
		"matchLabels": "labels", "podLabels": "labels", "nodeSelector": "labels",
		"podAnnotations": "annotations", "userAnnotations": "annotations", "secretEnv": "env",
	}
)

// labels lists the labels whose values are known to be good.
var labels = []string{
	names.LabelApp, names.LabelManagedBy, names.LabelPartOf, names.LabelInstance, names.LabelWatch, names.LabelConfig,
	"app.kubernetes.io/name", "app.kubernetes.io/component", "app.kubernetes.io/version", "control-plane",
	"pod-template-hash", "kubernetes.io/metadata.name", "kubernetes.io/hostname", "kubernetes.io/arch",
	"kubernetes.io/os", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "nvidia.com/gpu.product",
	"pod-security.kubernetes.io/enforce", "network.openshift.io/policy-group", "helm.sh/chart",
}

// annotations lists the annotations whose values are known to be good.
var annotations = []string{
	names.AnnotationConfigHash, names.AnnotationCABundleHash, names.AnnotationInputs, names.AnnotationGeneration,
	names.AnnotationRendered, names.AnnotationCompat, names.AnnotationContainerName, names.AnnotationRelease,
	names.AnnotationPaused, names.AnnotationAllowNamespaces,
	names.AnnotationUserConfigNamespace, names.AnnotationCABundleNamespace, names.AnnotationConstraint,
	"deployment.kubernetes.io/revision", "autoscaling.alpha.kubernetes.io/conditions", "kubectl.kubernetes.io/restartedAt",
	"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
}

// dropped contains the annotations that contain a copy of the object with its secrets.
var dropped = []string{"kubectl.kubernetes.io/last-applied-configuration"}

// reasons lists the reasons of events whose messages Kubernetes makes only from names, counts and images, and the
// operator's own events. The messages of other events can contain the output of a container, the options of a mount, or
// the text of an admission webhook.
var reasons = strings.Fields(`
	Scheduled FailedScheduling Preempted Pulling Pulled Failed BackOff Created Started Killing ErrImageNeverPull
	ImageInspectError InvalidImageName SuccessfulCreate SuccessfulDelete ScalingReplicaSet SuccessfulRescale
	DesiredReplicasComputed FailedGetResourceMetric FailedComputeMetricsReplicas ProvisioningSucceeded WaitForFirstConsumer
	ExternalProvisioning SuccessfulAttachVolume Evicted OOMKilling NodeNotReady TaintManagerEviction LeaderElection`)

// variables lists the environment variables that the operator sets. The values of all other variables are withheld,
// except variables whose names begin with imagePrefix.
var variables = []string{
	names.EnvModelCache, names.EnvHome, names.EnvConfig, names.EnvRunConfig, names.EnvCABundle, names.EnvRequestsCABundle,
	names.EnvAWSCABundle, names.EnvPort, names.EnvWorkers, names.EnvRegistry, names.EnvGeneration, names.EnvPythonPath,
	names.EnvPreflight, "LLAMA_STACK_PORT", "OGX_PORT", "LLAMA_STACK_LOGGING", "OGX_LOGGING", "OGX_CONFIG",
	"OGX_CONFIG_DIR",
	"FILES_STORAGE_DIR", "MILVUS_DB_PATH", "SQLITE_STORE_DIR", "POD_NAMESPACE", "GOMEMLIMIT", "GOMAXPROCS",
}

// imagePrefix is the prefix of the operator's variables that hold images.
const imagePrefix = "RELATED_IMAGE_"

func isOurs(variable string) bool {
	return slices.Contains(variables, variable) || strings.HasPrefix(variable, imagePrefix)
}

// words of programs and their arguments that are known to be good. After a flag in flags, the value is too.
var (
	programs = strings.Fields(`
		sh /bin/sh -c -ec -eu -euc bash /bin/bash python python3 -m uvicorn llama ogx stack run sleep
		llama_stack.core.server.server llama_stack.cli.llama ogx.core.server.server ogx.cli.ogx /manager copy
		/usr/local/bin/llama-stack-entrypoint.sh ` + names.ConfigPath + " " +
		names.StartupDir + "/" + names.RegistryProgram + " " + names.StartupDir + "/" + names.ExternalProgram)
	flags = strings.Fields(`
		--metrics-bind-address --health-probe-bind-address --webhook-bind-address --watch-namespaces --leader-elect
		--zap-log-level --port --host --workers --config --env-file`)
)
