package ogxserver

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// These types define the fields of an OGXServer and their values, for package typecheck. The conversion reads the JSON
// values, so nothing sets the fields of these types. A field without omitempty is required.

type server struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec            spec              `json:"spec"`
}

type spec struct {
	Distribution    distributionSpec `json:"distribution"`
	Providers       *providers       `json:"providers,omitempty"`
	Resources       *resources       `json:"resources,omitempty"`
	Storage         *stateStorage    `json:"storage,omitempty"`
	DisabledAPIs    []string         `json:"disabledAPIs,omitempty"`
	RefreshInterval *int32           `json:"registryRefreshIntervalSeconds,omitempty"`
	Network         *network         `json:"network,omitempty"`
	TLS             *outboundTLS     `json:"tls,omitempty"`
	Workload        *workload        `json:"workload,omitempty"`
	Monitoring      *monitoring      `json:"monitoring,omitempty"`
	BaseConfig      *keyReference    `json:"baseConfig,omitempty"`
	OverrideConfig  *keyReference    `json:"overrideConfig,omitempty"`
}

type distributionSpec struct {
	Name  string `json:"name,omitempty"`
	Image string `json:"image,omitempty"`
}

// keyReference is a key of a Secret or of a ConfigMap.
type keyReference struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type resources struct {
	Models []model `json:"models,omitempty"`
}

type model struct {
	Name          string `json:"name"`
	Provider      string `json:"provider,omitempty"`
	ContextLength *int   `json:"contextLength,omitempty"`
	ModelType     string `json:"modelType,omitempty"`
	Quantization  string `json:"quantization,omitempty"`
}

type stateStorage struct {
	KV *struct {
		Type     string        `json:"type,omitempty"`
		Endpoint string        `json:"endpoint,omitempty"`
		Password *keyReference `json:"password,omitempty"`
	} `json:"kv,omitempty"`
	SQL *struct {
		Type             string        `json:"type,omitempty"`
		ConnectionString *keyReference `json:"connectionString,omitempty"`
	} `json:"sql,omitempty"`
}

type network struct {
	Port int32 `json:"port,omitempty"`
	TLS  *struct {
		SecretName string `json:"secretName"`
	} `json:"tls,omitempty"`
	ExternalAccess *struct {
		Enabled  bool   `json:"enabled,omitempty"`
		Hostname string `json:"hostname,omitempty"`
	} `json:"externalAccess,omitempty"`
	Policy *networkPolicy `json:"policy,omitempty"`
}

type networkPolicy struct {
	Enabled     *bool                                   `json:"enabled,omitempty"`
	PolicyTypes []networkingv1.PolicyType               `json:"policyTypes,omitempty"`
	Ingress     []networkingv1.NetworkPolicyIngressRule `json:"ingress,omitempty"`
	Egress      []networkingv1.NetworkPolicyEgressRule  `json:"egress,omitempty"`
}

type outboundTLS struct {
	Trust *struct {
		CACertificates []keyReference `json:"caCertificates,omitempty"`
	} `json:"trust,omitempty"`
	Identity *struct {
		Cert keyReference `json:"cert"`
		Key  keyReference `json:"key"`
	} `json:"identity,omitempty"`
}

type monitoring struct {
	Enabled     *bool  `json:"enabled,omitempty"`
	MetricsPort *int32 `json:"metricsPort,omitempty"`
}

type workload struct {
	Replicas       *int32                       `json:"replicas,omitempty"`
	Workers        *int32                       `json:"workers,omitempty"`
	Resources      *corev1.ResourceRequirements `json:"resources,omitempty"`
	ResourceClaims []corev1.PodResourceClaim    `json:"resourceClaims,omitempty"`
	Autoscaling    *struct {
		MinReplicas  *int32 `json:"minReplicas,omitempty"`
		MaxReplicas  int32  `json:"maxReplicas"`
		TargetCPU    *int32 `json:"targetCPUUtilizationPercentage,omitempty"`
		TargetMemory *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`
	} `json:"autoscaling,omitempty"`
	Storage *struct {
		Size      *resource.Quantity `json:"size,omitempty"`
		MountPath string             `json:"mountPath,omitempty"`
	} `json:"storage,omitempty"`
	PodDisruptionBudget *struct {
		MinAvailable   *intstr.IntOrString `json:"minAvailable,omitempty"`
		MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	} `json:"podDisruptionBudget,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	Overrides                 *overrides                        `json:"overrides,omitempty"`
}

type overrides struct {
	ServiceAccountName string               `json:"serviceAccountName,omitempty"`
	Env                []corev1.EnvVar      `json:"env,omitempty"`
	Command            []string             `json:"command,omitempty"`
	Args               []string             `json:"args,omitempty"`
	Volumes            []corev1.Volume      `json:"volumes,omitempty"`
	VolumeMounts       []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}
