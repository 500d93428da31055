package render

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

const (
	// serverUID is the user of the server. The shipped images do not specify a user and would run as root.
	serverUID = 1001
	// serverGID is the group of the images' writable directories.
	serverGID = 0
	// dataGID is the group of the files on the volumes.
	dataGID = 1001
)

// podSecurity returns a security context that meets the restricted Pod Security standard. OpenShift rejects pods with a
// fixed UID, GID or fsGroup, because its security context constraints assign these values. The server of a v1alpha1
// stack still runs as the user of its image, who owns the stack's files. If the constraint "anyuid" admitted the pods
// of an earlier operator, the volume keeps its group, because that constraint assigns nothing.
func podSecurity(in Input) *corev1ac.PodSecurityContextApplyConfiguration {
	switch {
	case of(in).UserOfImage && in.OpenShift && !in.KeepsGroup:
		return nil
	case of(in).UserOfImage:
		return corev1ac.PodSecurityContext().WithFSGroup(dataGID)
	}
	security := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if in.OpenShift {
		return security
	}
	return security.WithRunAsUser(serverUID).WithRunAsGroup(serverGID).WithFSGroup(dataGID)
}

func containerSecurity(in Input) *corev1ac.SecurityContextApplyConfiguration {
	if of(in).UserOfImage {
		return nil
	}
	return restricted()
}

// restricted returns the security context of a container that needs no privileges.
func restricted() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// HasDataGroup reports whether the volumes of a pod belong to the group that the operator sets.
func HasDataGroup(pod *corev1.PodSpec) bool {
	security := pod.SecurityContext
	return security != nil && security.FSGroup != nil && *security.FSGroup == dataGID
}
