package controlplane

import (
	"fmt"
	"os"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/pki"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// These are the names of the files below pki/, without their extensions.
const (
	clusterAuthority    = "ca"
	frontProxyAuthority = "front-proxy-ca"
	serverPair          = "kube-apiserver"
	etcdPair            = "etcd"
	frontProxyPair      = "front-proxy-client"
	componentPair       = "component"
	kubeletPair         = "kubelet"
	kubeletClientPair   = "kubelet-client"
	serviceAccountKey   = "service-account"
)

// These are the users of the control plane. Each has a kubeconfig, whose path kubeconfigPath returns.
const (
	adminUser             = "admin"
	controllerManagerUser = "kube-controller-manager"
	schedulerUser         = "kube-scheduler"
	kubeletUser           = "kubelet"
	kubeProxyUser         = "kube-proxy"
)

// writeKeys writes every key and certificate, and a kubeconfig for each user. It returns the administrator's pair and
// the authority's certificate.
func writeKeys(
	folder *state.Folder, at site, server string, now time.Time,
) (admin pki.Pair, authority []byte, err error) {
	cluster, err := pki.NewAuthority("llama-stack-test-ca", now)
	if err != nil {
		return admin, nil, err
	}
	if err := writeServing(folder, cluster, at, now); err != nil {
		return admin, nil, err
	}
	if err := writeSigningKey(folder); err != nil {
		return admin, nil, err
	}
	authority = cluster.Pair().Certificate
	for _, u := range users(at) {
		pair, err := cluster.Issue(u.subject)
		if err != nil {
			return admin, nil, err
		}
		if err := writeFile(kubeconfigPath(folder, u.file), kubeconfig(server, authority, pair)); err != nil {
			return admin, nil, err
		}
		if u.file == adminUser {
			admin = pair
		}
	}
	return admin, authority, nil
}

// user is a client of the API server, with the file name of its kubeconfig.
type user struct {
	file    string
	subject pki.Subject
}

// users returns the users for which writeKeys writes a kubeconfig.
func users(at site) []user {
	all := []user{
		{controllerManagerUser, pki.Subject{CommonName: "system:kube-controller-manager"}},
		{schedulerUser, pki.Subject{CommonName: "system:kube-scheduler"}},
		{adminUser, pki.Subject{CommonName: "cluster-admin", Organizations: []string{"system:masters"}}},
	}
	if at.node == "" {
		return all
	}
	return append(all,
		user{kubeletUser, pki.Subject{CommonName: "system:node:" + network.NodeName, Organizations: []string{"system:nodes"}}},
		user{kubeProxyUser, pki.Subject{CommonName: "system:kube-proxy"}})
}

// writeServing writes the key pairs of the two authorities, and the key pairs that they sign: the serving certificates
// of the servers, and the client certificates of the API server.
func writeServing(folder *state.Folder, cluster *pki.Authority, at site, now time.Time) error {
	front, err := pki.NewAuthority("llama-stack-test-front-proxy-ca", now)
	if err != nil {
		return err
	}
	for name, authority := range map[string]*pki.Authority{clusterAuthority: cluster, frontProxyAuthority: front} {
		if err := writePair(folder, name, authority.Pair()); err != nil {
			return err
		}
	}
	for _, item := range pairs(cluster, front, at) {
		pair, err := item.authority.Issue(item.subject)
		if err != nil {
			return err
		}
		if err := writePair(folder, item.file, pair); err != nil {
			return err
		}
	}
	return nil
}

// signed describes a pair to create, and the authority that signs it.
type signed struct {
	file      string
	authority *pki.Authority
	subject   pki.Subject
}

func pairs(cluster, front *pki.Authority, at site) []signed {
	local := []string{"localhost", loopback}
	all := []signed{
		{serverPair, cluster, pki.Subject{CommonName: "kube-apiserver", Hosts: append([]string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", at.apiService,
			at.server,
		}, local...)}},
		{etcdPair, cluster, pki.Subject{CommonName: "etcd", Hosts: local}},
		{componentPair, cluster, pki.Subject{CommonName: "component", Hosts: local}},
		{frontProxyPair, front, pki.Subject{CommonName: frontProxyPair}},
	}
	if at.node == "" {
		return all
	}
	return append(all,
		signed{kubeletPair, cluster, pki.Subject{CommonName: "kubelet", Hosts: []string{network.NodeName, at.node}}},
		signed{kubeletClientPair, cluster, pki.Subject{
			CommonName:    "kube-apiserver-kubelet-client",
			Organizations: []string{"system:masters"},
		}})
}

func writeSigningKey(folder *state.Folder) error {
	private, public, err := pki.NewSigningKey()
	if err != nil {
		return err
	}
	if err := writeFile(keyPath(folder, serviceAccountKey), private); err != nil {
		return err
	}
	return writeFile(folder.Path("pki", serviceAccountKey+".pub"), public)
}

func writePair(folder *state.Folder, name string, pair pki.Pair) error {
	if err := writeFile(certificatePath(folder, name), pair.Certificate); err != nil {
		return err
	}
	return writeFile(keyPath(folder, name), pair.Key)
}

// writeFile writes a file that only its owner may read.
func writeFile(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing the control plane's keys: %w", err)
	}
	return nil
}

func certificatePath(folder *state.Folder, name string) string {
	return folder.Path("pki", name+".crt")
}

func keyPath(folder *state.Folder, name string) string { return folder.Path("pki", name+".key") }

// kubeconfigPath returns the path of a user's kubeconfig. The administrator's kubeconfig has the usual file name.
func kubeconfigPath(folder *state.Folder, user string) string {
	if user == adminUser {
		return folder.Path(Kubeconfig)
	}
	return folder.Path("pki", user+".kubeconfig")
}
