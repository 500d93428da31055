package convert

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// field is a field of the API with its paths in both versions.
type field struct {
	older, hub path
	// holder reports whether only the existence of the object matters, not its content.
	holder bool
}

// shared lists the fields that both versions have. Any other field that toHub and toOlder do not convert has no
// counterpart.
var shared = []field{
	holder("spec", "spec"),
	same("spec.replicas", "spec.workload.replicas"),
	same("spec.network.allowedFrom", "spec.networking.allowedFrom"),
	holder("spec.server.distribution", "spec.distribution"),
	same("spec.server.distribution.name", "spec.distribution.name"),
	same("spec.server.distribution.image", "spec.distribution.image"),
	same("spec.server.containerSpec.port", "spec.networking.port"),
	same("spec.server.containerSpec.resources", "spec.workload.resources"),
	same("spec.server.containerSpec.env", "spec.workload.overrides.env"),
	same("spec.server.containerSpec.command", "spec.workload.overrides.command"),
	same("spec.server.containerSpec.args", "spec.workload.overrides.args"),
	same("spec.server.workers", "spec.workload.workers"),
	same("spec.server.podOverrides.serviceAccountName", "spec.workload.overrides.serviceAccountName"),
	same("spec.server.podOverrides.terminationGracePeriodSeconds", "spec.workload.overrides.terminationGracePeriodSeconds"),
	same("spec.server.podOverrides.volumes", "spec.workload.overrides.volumes"),
	same("spec.server.podOverrides.volumeMounts", "spec.workload.overrides.volumeMounts"),
	same("spec.server.podDisruptionBudget", "spec.workload.podDisruptionBudget"),
	same("spec.server.topologySpreadConstraints", "spec.workload.topologySpreadConstraints"),
	same("spec.server.autoscaling.minReplicas", "spec.workload.autoscaling.minReplicas"),
	same("spec.server.autoscaling.maxReplicas", "spec.workload.autoscaling.maxReplicas"),
	same("spec.server.autoscaling.targetCPUUtilizationPercentage", "spec.workload.autoscaling.targetCPUUtilization"),
	same("spec.server.autoscaling.targetMemoryUtilizationPercentage", "spec.workload.autoscaling.targetMemoryUtilization"),
	holder("spec.server.storage", "spec.workload.storage"),
	same("spec.server.storage.size", "spec.workload.storage.size"),
	same("spec.server.storage.mountPath", "spec.workload.storage.mountPath"),
	same("spec.server.storage.kv", "spec.storage.kv"),
	same("spec.server.storage.sql", "spec.storage.sql"),
	same("spec.server.userConfig.configMapName", "spec.overrideConfig.configMapName"),
	same("spec.server.tlsConfig.caBundle.configMapName", "spec.networking.tls.caBundle.configMapName"),
	same("spec.server.tlsConfig.caBundle.configMapKeys", "spec.networking.tls.caBundle.configMapKeys"),
	same("spec.server.providers", "spec.providers"),
	same("spec.server.resources", "spec.resources"),
	same("spec.server.disabled", "spec.disabled"),
	same("spec.server.externalProviders", "spec.externalProviders"),
}

// attribute is a v1alpha1 field that is an annotation in the hub.
type attribute struct {
	older      path
	annotation string
	// neighbor is the field without which the annotation has no meaning in the hub.
	neighbor path
	// usual is the value for which no annotation is needed.
	usual string
}

var attributes = []attribute{
	{older: split("spec.server.containerSpec.name"), annotation: names.AnnotationContainerName, usual: names.Container},
	{
		older:      split("spec.server.userConfig.configMapNamespace"),
		annotation: names.AnnotationUserConfigNamespace, neighbor: split("spec.overrideConfig.configMapName"),
	},
	{
		older:      split("spec.server.tlsConfig.caBundle.configMapNamespace"),
		annotation: names.AnnotationCABundleNamespace, neighbor: split("spec.networking.tls.caBundle.configMapName"),
	},
}

func same(older, hub string) field { return field{older: split(older), hub: split(hub)} }

func holder(older, hub string) field {
	return field{older: split(older), hub: split(hub), holder: true}
}

// toNewer and toOlderVersion return the paths of a field in the version that is converted, and in the other one.
func toNewer(f field) (from, to path)        { return f.older, f.hub }
func toOlderVersion(f field) (from, to path) { return f.hub, f.older }

func split(dotted string) path { return strings.Split(dotted, ".") }

func annotationPath(name string) path { return path{annotations, name} }
