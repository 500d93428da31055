package podspec

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// Names reports which names the whole pod has, because users write only parts of it.
type Names struct {
	// Volume reports whether the pod has a volume with this name. Claim reports the same about a resource claim.
	Volume, Claim func(name string) bool
}

// Template checks a pod template, or the part of one that a user writes.
func Template(path *field.Path, template *corev1.PodTemplateSpec, names Names) field.ErrorList {
	var c check
	c.labels(path.Child("metadata", "labels"), template.Labels)
	for _, key := range slices.Sorted(maps.Keys(template.Annotations)) {
		c.name(path.Child("metadata", "annotations").Key(key), strings.ToLower(key), validation.IsQualifiedName)
	}
	spec, path := &template.Spec, path.Child("spec")
	c.containers(path.Child("containers"), spec.Containers, names)
	c.containers(path.Child("initContainers"), spec.InitContainers, names)
	c.Add(Volumes(path.Child("volumes"), spec.Volumes)...)
	c.placement(path, spec)
	c.network(path, spec)
	c.lifetime(path, spec)
	c.security(path.Child("securityContext"), spec.SecurityContext)
	c.references(path, spec)
	return c.list()
}

func (c *check) placement(path *field.Path, spec *corev1.PodSpec) {
	c.labels(path.Child("nodeSelector"), spec.NodeSelector)
	c.affinity(path.Child("affinity"), spec.Affinity)
	c.tolerations(path.Child("tolerations"), spec.Tolerations)
	c.Add(Spread(path.Child("topologySpreadConstraints"), spec.TopologySpreadConstraints)...)
	c.text(path.Child("priorityClassName"), spec.PriorityClassName, subdomain)
	c.text(path.Child("schedulerName"), spec.SchedulerName, subdomain)
	if spec.RuntimeClassName != nil {
		c.name(path.Child("runtimeClassName"), *spec.RuntimeClassName, subdomain)
	}
	if spec.PreemptionPolicy != nil {
		intent.OneOf(&c.Errors, path.Child("preemptionPolicy"), *spec.PreemptionPolicy,
			corev1.PreemptLowerPriority, corev1.PreemptNever)
	}
	for i, gate := range spec.SchedulingGates {
		c.name(path.Child("schedulingGates").Index(i).Child("name"), gate.Name, validation.IsQualifiedName)
	}
	for i, gate := range spec.ReadinessGates {
		kind := path.Child("readinessGates").Index(i).Child("conditionType")
		c.name(kind, string(gate.ConditionType), validation.IsQualifiedName)
	}
}

const maxNameservers = 3

func (c *check) network(path *field.Path, spec *corev1.PodSpec) {
	c.text(path.Child("hostname"), spec.Hostname, validation.IsDNS1123Label)
	c.text(path.Child("subdomain"), spec.Subdomain, validation.IsDNS1123Label)
	for i, alias := range spec.HostAliases {
		path := path.Child("hostAliases").Index(i)
		c.address(path.Child("ip"), alias.IP)
		for j, name := range alias.Hostnames {
			c.text(path.Child("hostnames").Index(j), name, subdomain)
		}
	}
	intent.OneOf(&c.Errors, path.Child("dnsPolicy"), spec.DNSPolicy,
		corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone)
	config, path := spec.DNSConfig, path.Child("dnsConfig")
	if spec.DNSPolicy == corev1.DNSNone && (config == nil || len(config.Nameservers) == 0) {
		c.Required(path.Child("nameservers"), "required: dnsPolicy None needs a nameserver")
	}
	if config == nil {
		return
	}
	if count := len(config.Nameservers); count > maxNameservers {
		c.Forbidden(path.Child("nameservers"), "%d entries exceed the limit of %d: remove some", count, maxNameservers)
	}
	for i, server := range config.Nameservers {
		c.address(path.Child("nameservers").Index(i), server)
	}
}

func (c *check) address(path *field.Path, text string) {
	if _, err := netip.ParseAddr(text); err != nil {
		c.InvalidText(path, text, "is not an IP address: write an address such as 10.9.8.7")
	}
}

// lifetime checks fields that a Deployment restricts.
func (c *check) lifetime(path *field.Path, spec *corev1.PodSpec) {
	if spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways {
		c.Invalid(path.Child("restartPolicy"), string(spec.RestartPolicy), "%q is not possible in a Deployment: remove the field", spec.RestartPolicy)
	}
	if spec.ActiveDeadlineSeconds != nil {
		c.Forbidden(path.Child("activeDeadlineSeconds"), "a Deployment cannot have a deadline: remove the field")
	}
	notNegative(c, path.Child("terminationGracePeriodSeconds"), spec.TerminationGracePeriodSeconds)
	if ptr.Deref(spec.ShareProcessNamespace, false) && spec.HostPID {
		c.Forbidden(path.Child("shareProcessNamespace"), "cannot be used together with hostPID: remove one of the two fields")
	}
}

// sysctl matches the name of a kernel parameter.
var sysctl = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func (c *check) security(path *field.Path, s *corev1.PodSecurityContext) {
	if s == nil {
		return
	}
	c.user(path, s.RunAsUser, s.RunAsGroup, s.SeccompProfile)
	notNegative(c, path.Child("fsGroup"), s.FSGroup)
	for i := range s.SupplementalGroups {
		notNegative(c, path.Child("supplementalGroups").Index(i), &s.SupplementalGroups[i])
	}
	if s.FSGroupChangePolicy != nil {
		intent.OneOf(&c.Errors, path.Child("fsGroupChangePolicy"), *s.FSGroupChangePolicy,
			corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways)
	}
	for i, parameter := range s.Sysctls {
		if !sysctl.MatchString(parameter.Name) {
			c.InvalidText(path.Child("sysctls").Index(i).Child("name"), parameter.Name,
				"is not a kernel parameter: write a name such as net.core.somaxconn")
		}
	}
}

func (c *check) references(path *field.Path, spec *corev1.PodSpec) {
	c.text(path.Child("serviceAccountName"), spec.ServiceAccountName, subdomain)
	for i, claim := range spec.ResourceClaims {
		path := path.Child("resourceClaims").Index(i)
		c.name(path.Child("name"), claim.Name, validation.IsDNS1123Label)
		c.one(path, sources(&claim), "resourceClaimName and resourceClaimTemplateName")
	}
	if spec.OS != nil && !strings.EqualFold(string(spec.OS.Name), string(corev1.Linux)) {
		c.InvalidText(path.Child("os", "name"), string(spec.OS.Name), "is not possible: the server runs on linux")
	}
}
