package controlplane

import (
	"fmt"
	"os"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/pki"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// serviceRange is where ClusterIPs come from; its first address is that of the
// API server's own Service.
const (
	serviceRange   = "10.96.0.0/16"
	firstServiceIP = "10.96.0.1"
)

// File names below pki/ without their ending.
const (
	clusterAuthority    = "ca"
	frontProxyAuthority = "front-proxy-ca"
	serverPair          = "kube-apiserver"
	etcdPair            = "etcd"
	frontProxyPair      = "front-proxy-client"
	componentPair       = "component"
	serviceAccountKey   = "service-account"
)

// users of the control plane, each with a kubeconfig of the same file name.
const (
	adminUser             = "admin"
	controllerManagerUser = "kube-controller-manager"
	schedulerUser         = "kube-scheduler"
)

// writeKeys makes every key and certificate and a kubeconfig for each user.
// It returns the administrator's pair and the authority's certificate.
func writeKeys(folder *state.Folder, server string, now time.Time) (admin pki.Pair, authority []byte, err error) {
	cluster, err := pki.NewAuthority("llama-stack-test-ca", now)
	if err != nil {
		return admin, nil, err
	}
	if err := writeServing(folder, cluster, now); err != nil {
		return admin, nil, err
	}
	if err := writeSigningKey(folder); err != nil {
		return admin, nil, err
	}
	authority = cluster.Pair().Certificate
	for _, user := range []struct {
		file    string
		subject pki.Subject
	}{
		{controllerManagerUser, pki.Subject{CommonName: "system:kube-controller-manager"}},
		{schedulerUser, pki.Subject{CommonName: "system:kube-scheduler"}},
		{adminUser, pki.Subject{CommonName: "cluster-admin", Organizations: []string{"system:masters"}}},
	} {
		pair, err := cluster.Issue(user.subject)
		if err != nil {
			return admin, nil, err
		}
		if err := writeFile(kubeconfigPath(folder, user.file), kubeconfig(server, authority, pair)); err != nil {
			return admin, nil, err
		}
		if user.file == adminUser {
			admin = pair
		}
	}
	return admin, authority, nil
}

// writeServing writes the two authorities and the pairs that they sign for
// servers and for the API server as a client.
func writeServing(folder *state.Folder, cluster *pki.Authority, now time.Time) error {
	front, err := pki.NewAuthority("llama-stack-test-front-proxy-ca", now)
	if err != nil {
		return err
	}
	for name, authority := range map[string]*pki.Authority{clusterAuthority: cluster, frontProxyAuthority: front} {
		if err := writePair(folder, name, authority.Pair()); err != nil {
			return err
		}
	}
	local := []string{"localhost", loopback}
	for _, item := range []struct {
		file      string
		authority *pki.Authority
		subject   pki.Subject
	}{
		{serverPair, cluster, pki.Subject{CommonName: "kube-apiserver", Hosts: append([]string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", firstServiceIP,
		}, local...)}},
		{etcdPair, cluster, pki.Subject{CommonName: "etcd", Hosts: local}},
		{componentPair, cluster, pki.Subject{CommonName: "component", Hosts: local}},
		{frontProxyPair, front, pki.Subject{CommonName: frontProxyPair}},
	} {
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

// kubeconfigPath is a user's kubeconfig; the administrator's has the name that
// people look for.
func kubeconfigPath(folder *state.Folder, user string) string {
	if user == adminUser {
		return folder.Path(Kubeconfig)
	}
	return folder.Path("pki", user+".kubeconfig")
}
