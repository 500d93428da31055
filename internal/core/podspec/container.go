package podspec

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// containers checks containers, or patches for them.
func (c *check) containers(path *field.Path, containers []corev1.Container, of Names) {
	for i := range containers {
		container, path := &containers[i], path.Index(i)
		c.name(path.Child("name"), container.Name, validation.IsDNS1123Label)
		c.ports(path.Child("ports"), container.Ports)
		c.Add(Env(path.Child("env"), container.Env)...)
		c.Add(EnvFrom(path.Child("envFrom"), container.EnvFrom)...)
		c.Add(Resources(path.Child("resources"), &container.Resources, of.Claim)...)
		c.Add(Mounts(path.Child("volumeMounts"), container.VolumeMounts, of.Volume)...)
		intent.OneOf(&c.Errors, path.Child("imagePullPolicy"), container.ImagePullPolicy,
			corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
		intent.OneOf(&c.Errors, path.Child("terminationMessagePolicy"), container.TerminationMessagePolicy,
			corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
		c.probe(path.Child("livenessProbe"), container.LivenessProbe, true)
		c.probe(path.Child("startupProbe"), container.StartupProbe, true)
		c.probe(path.Child("readinessProbe"), container.ReadinessProbe, false)
		c.lifecycle(path.Child("lifecycle"), container.Lifecycle)
		c.containerSecurity(path.Child("securityContext"), container.SecurityContext)
		if container.Image != "" {
			c.unique(path, container)
		}
		if container.RestartPolicy != nil {
			intent.OneOf(&c.Errors, path.Child("restartPolicy"), *container.RestartPolicy,
				corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)
		}
	}
}

// unique checks that the lists of a container have no two items with the same key, because server-side apply rejects
// such lists. A container without an image is a patch for one of the operator's containers, and the patch merges such
// items.
func (c *check) unique(path *field.Path, container *corev1.Container) {
	seen := map[string]bool{}
	twice := func(path *field.Path, list, key string) {
		if seen[list+key] {
			c.duplicate(path, key)
		}
		seen[list+key] = true
	}
	for i := range container.Env {
		twice(path.Child("env").Index(i).Child("name"), "env ", container.Env[i].Name)
	}
	for i := range container.VolumeMounts {
		twice(path.Child("volumeMounts").Index(i).Child("mountPath"), "mount ", container.VolumeMounts[i].MountPath)
	}
	for i, port := range container.Ports {
		key := fmt.Sprintf("%d/%s", port.ContainerPort, cmp.Or(port.Protocol, corev1.ProtocolTCP))
		twice(path.Child("ports").Index(i).Child("containerPort"), "port ", key)
	}
}

func (c *check) ports(path *field.Path, ports []corev1.ContainerPort) {
	names, hosts := map[string]bool{}, map[string]bool{}
	for i := range ports {
		port, path := &ports[i], path.Index(i)
		c.text(path.Child("name"), port.Name, validation.IsValidPortName)
		if port.Name != "" && names[port.Name] {
			c.duplicate(path.Child("name"), port.Name)
		}
		names[port.Name] = true
		c.portNumber(path.Child("containerPort"), port.ContainerPort)
		intent.OneOf(&c.Errors, path.Child("protocol"), port.Protocol,
			corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
		if port.HostPort == 0 {
			continue
		}
		c.portNumber(path.Child("hostPort"), port.HostPort)
		host := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
		if hosts[host] {
			c.duplicate(path.Child("hostPort"), port.HostPort)
		}
		hosts[host] = true
	}
}

// probe checks a probe. A patch for a probe may lack a handler, because the operator's probe has one. The parameter
// once reports whether one success must be enough.
func (c *check) probe(path *field.Path, probe *corev1.Probe, once bool) {
	if probe == nil {
		return
	}
	c.handler(path, sources(&probe.ProbeHandler), probe.HTTPGet, probe.TCPSocket, probe.Exec)
	if probe.GRPC != nil {
		c.portNumber(path.Child("grpc", "port"), probe.GRPC.Port)
	}
	notNegative(c, path.Child("initialDelaySeconds"), &probe.InitialDelaySeconds)
	notNegative(c, path.Child("timeoutSeconds"), &probe.TimeoutSeconds)
	notNegative(c, path.Child("periodSeconds"), &probe.PeriodSeconds)
	notNegative(c, path.Child("successThreshold"), &probe.SuccessThreshold)
	notNegative(c, path.Child("failureThreshold"), &probe.FailureThreshold)
	if once && probe.SuccessThreshold > 1 {
		c.Invalid(path.Child("successThreshold"), probe.SuccessThreshold, "%d is not possible for this probe: use 1", probe.SuccessThreshold)
	}
}

func (c *check) handler(
	path *field.Path, count int, get *corev1.HTTPGetAction, socket *corev1.TCPSocketAction, exec *corev1.ExecAction,
) {
	if count > 1 {
		c.Forbidden(path, "%d handlers are set: keep one of exec, grpc, httpGet and tcpSocket", count)
	}
	if get != nil {
		c.port(path.Child("httpGet", "port"), get.Port)
		intent.OneOf(&c.Errors, path.Child("httpGet", "scheme"), get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	}
	if socket != nil {
		c.port(path.Child("tcpSocket", "port"), socket.Port)
	}
	if exec != nil && len(exec.Command) == 0 {
		c.Required(path.Child("exec", "command"), "required: set a command")
	}
}

func (c *check) lifecycle(path *field.Path, lifecycle *corev1.Lifecycle) {
	if lifecycle == nil {
		return
	}
	if hook := lifecycle.PostStart; hook != nil {
		c.handler(path.Child("postStart"), sources(hook), hook.HTTPGet, hook.TCPSocket, hook.Exec)
	}
	if hook := lifecycle.PreStop; hook != nil {
		c.handler(path.Child("preStop"), sources(hook), hook.HTTPGet, hook.TCPSocket, hook.Exec)
	}
}

func (c *check) containerSecurity(path *field.Path, s *corev1.SecurityContext) {
	if s == nil {
		return
	}
	c.user(path, s.RunAsUser, s.RunAsGroup, s.SeccompProfile)
	escalation := path.Child("allowPrivilegeEscalation")
	switch {
	case ptr.Deref(s.AllowPrivilegeEscalation, true):
	case ptr.Deref(s.Privileged, false):
		c.Forbidden(escalation, "a privileged container cannot have allowPrivilegeEscalation: false: remove one of the two settings")
	case s.Capabilities != nil && slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN"):
		c.Forbidden(escalation, "a container with CAP_SYS_ADMIN cannot have allowPrivilegeEscalation: false: remove one of the two settings")
	}
	if s.ProcMount != nil {
		intent.OneOf(&c.Errors, path.Child("procMount"), *s.ProcMount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
	}
}

func (c *check) user(path *field.Path, user, group *int64, seccomp *corev1.SeccompProfile) {
	notNegative(c, path.Child("runAsUser"), user)
	notNegative(c, path.Child("runAsGroup"), group)
	if seccomp == nil {
		return
	}
	path = path.Child("seccompProfile")
	intent.OneOf(&c.Errors, path.Child("type"), seccomp.Type,
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	if local := seccomp.Type == corev1.SeccompProfileTypeLocalhost; local != (seccomp.LocalhostProfile != nil) {
		c.Invalid(path.Child("localhostProfile"), ptr.Deref(seccomp.LocalhostProfile, ""), "must be set if and only if the type is Localhost")
	}
}
