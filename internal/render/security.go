package render

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

const (
	// serverUID runs the server; the shipped images name no user and would run as root.
	serverUID = 1001
	// serverGID is the group that the images' writable directories belong to.
	serverGID = 0
	// dataGID owns the files of the volumes.
	dataGID = 1001
)

// podSecurity meets the restricted Pod Security standard. On OpenShift a uid, gid or fsGroup of ours would be refused:
// the security context constraints assign them. A stack of v1alpha1 runs as its image says, as ever: its files belong to
// that user. Where an operator before this one had the constraint "anyuid" let its pods in, that constraint assigns
// nothing, and the volume stays with the group that it has had.
func podSecurity(in Input) *corev1ac.PodSecurityContextApplyConfiguration {
	switch {
	case compat(in) && in.OpenShift && !in.KeepsGroup:
		return nil
	case compat(in):
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
	if compat(in) {
		return nil
	}
	return restricted()
}

// restricted are the rights of a container that needs none.
func restricted() *corev1ac.SecurityContextApplyConfiguration {
	return corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))
}

// HasDataGroup reports whether the volumes of a pod belong to the group that the operator gives them.
func HasDataGroup(pod *corev1.PodSpec) bool {
	security := pod.SecurityContext
	return security != nil && security.FSGroup != nil && *security.FSGroup == dataGID
}
