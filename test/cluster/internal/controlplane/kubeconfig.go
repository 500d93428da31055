package controlplane

import (
	"encoding/base64"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/pki"
)

// Kubeconfig is the file name of the administrator's kubeconfig in the state directory.
const Kubeconfig = "kubeconfig"

// contextName is the name of the cluster, the user and the context in each kubeconfig.
const contextName = "llama-stack-test"

// kubeconfig returns a kubeconfig that connects to the server as the pair's user.
func kubeconfig(server string, authority []byte, user pki.Pair) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
users:
- name: %[1]s
  user:
    client-certificate-data: %[4]s
    client-key-data: %[5]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[1]s
current-context: %[1]s
`, contextName, server, encode(authority), encode(user.Certificate), encode(user.Key))
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
