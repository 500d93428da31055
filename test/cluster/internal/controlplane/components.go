package controlplane

import (
	"os"
	"strconv"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// component is one program and the settings to start it.
type component struct {
	program string
	args    []string
	// path is the path of the program. If it is empty, the program is in Options.Programs.
	path string
	// environment is the complete environment. If it is empty, the component runs with the default environment of all
	// components.
	environment []string
	// input and namespaces have the same meaning as in process.Command.
	input      *os.File
	namespaces uintptr
}

// auditPolicy records the user and the target of each request, because tests count requests by user agent. It does not
// record the body, because a log must not contain Secrets.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// etcd returns the component that stores the objects. The component does not wait until its data is on the disk,
// because the data does not have to survive a crash of the machine.
func etcd(folder *state.Folder, p ports) component {
	certificate, key, authority := certificatePath(folder, etcdPair), keyPath(folder, etcdPair),
		certificatePath(folder, clusterAuthority)
	return component{program: "etcd", args: []string{
		"--name=default",
		"--data-dir=" + folder.Path("etcd"),
		"--unsafe-no-fsync",
		"--log-level=warn",
		"--listen-client-urls=" + url(p.etcd),
		"--advertise-client-urls=" + url(p.etcd),
		"--listen-peer-urls=" + url(p.etcdPeer),
		"--initial-advertise-peer-urls=" + url(p.etcdPeer),
		"--initial-cluster=default=" + url(p.etcdPeer),
		"--client-cert-auth", "--trusted-ca-file=" + authority, "--cert-file=" + certificate, "--key-file=" + key,
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + authority, "--peer-cert-file=" + certificate,
		"--peer-key-file=" + key,
	}}
}

// apiServer returns the component that serves the API. OwnerReferencesPermissionEnforcement is enabled because some
// platforms enable it, and operators that were not tested with it may fail on these platforms.
func apiServer(folder *state.Folder, p ports, at site, audit bool) component {
	args := []string{
		"--etcd-servers=" + url(p.etcd),
		"--etcd-cafile=" + certificatePath(folder, clusterAuthority),
		"--etcd-certfile=" + certificatePath(folder, etcdPair),
		"--etcd-keyfile=" + keyPath(folder, etcdPair),
		"--bind-address=" + at.server,
		"--advertise-address=" + at.server,
		"--secure-port=" + strconv.Itoa(p.apiServer),
		"--cert-dir=" + folder.Path("pki"),
		"--tls-cert-file=" + certificatePath(folder, serverPair),
		"--tls-private-key-file=" + keyPath(folder, serverPair),
		"--client-ca-file=" + certificatePath(folder, clusterAuthority),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + folder.Path("pki", serviceAccountKey+".pub"),
		"--service-account-signing-key-file=" + keyPath(folder, serviceAccountKey),
		"--service-cluster-ip-range=" + at.services,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
		"--allow-privileged=true",
		"--requestheader-client-ca-file=" + certificatePath(folder, frontProxyAuthority),
		"--requestheader-allowed-names=" + frontProxyPair,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + certificatePath(folder, frontProxyPair),
		"--proxy-client-key-file=" + keyPath(folder, frontProxyPair),
	}
	args = append(args, reachFlags(folder, at)...)
	if audit {
		args = append(args, "--audit-policy-file="+folder.Path("audit-policy.yaml"),
			"--audit-log-path="+folder.Path("log", "audit.log"))
	}
	return component{program: "kube-apiserver", args: args}
}

// reachFlags returns the flags that allow the API server and a node to connect to each other.
func reachFlags(folder *state.Folder, at site) []string {
	if at.node == "" {
		return []string{"--endpoint-reconciler-type=none"} // a loopback address must not be published
	}
	return []string{
		"--kubelet-client-certificate=" + certificatePath(folder, kubeletClientPair),
		"--kubelet-client-key=" + keyPath(folder, kubeletClientPair),
		"--kubelet-certificate-authority=" + certificatePath(folder, clusterAuthority),
		"--kubelet-preferred-address-types=InternalIP",
	}
}

// controllerManager returns the component that runs the controllers. The autoscaler polls often, because tests wait for
// it.
func controllerManager(folder *state.Folder, p ports) component {
	return component{
		program: "kube-controller-manager",
		args: append(controllerFlags(folder, controllerManagerUser, p.controllerManager),
			"--use-service-account-credentials=true",
			"--service-account-private-key-file="+keyPath(folder, serviceAccountKey),
			"--root-ca-file="+certificatePath(folder, clusterAuthority),
			"--cluster-signing-cert-file="+certificatePath(folder, clusterAuthority),
			"--cluster-signing-key-file="+keyPath(folder, clusterAuthority),
			"--allocate-node-cidrs=false",
			"--kube-api-qps=200", "--kube-api-burst=400", // because about forty controllers start at the same time
			"--horizontal-pod-autoscaler-sync-period=5s",
			"--horizontal-pod-autoscaler-downscale-stabilization=20s",
		),
	}
}

// scheduler returns the component that schedules pods.
func scheduler(folder *state.Folder, p ports) component {
	return component{program: "kube-scheduler", args: controllerFlags(folder, schedulerUser, p.scheduler)}
}

// controllerFlags returns the flags that the controller manager and the scheduler share. Each of these components has a
// single replica, so leader election is disabled.
func controllerFlags(folder *state.Folder, user string, port int) []string {
	config := kubeconfigPath(folder, user)
	return []string{
		"--kubeconfig=" + config,
		"--authentication-kubeconfig=" + config,
		"--authorization-kubeconfig=" + config,
		"--leader-elect=false",
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + certificatePath(folder, componentPair),
		"--tls-private-key-file=" + keyPath(folder, componentPair),
	}
}
