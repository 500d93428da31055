package controlplane

import (
	"net"
	"strconv"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// site holds the addresses of the API server and of Services.
type site struct {
	// server is the address that the API server listens on.
	server string
	// services is the range of ClusterIPs. apiService is the first address of this range, which is the ClusterIP of the
	// API server's Service.
	services, apiService string
	// node is the node's address. It is empty if there is no node.
	node string
}

// alone is the site of a control plane without a node. Such a control plane is reachable only on the machine's loopback
// address.
var alone = site{server: loopback, services: "10.96.0.0/16", apiService: "10.96.0.1"}

// besideNode returns the site of a control plane that a node must be able to reach.
func besideNode(plan network.Plan) site {
	return site{
		server: plan.Host().String(), services: plan.Services().String(),
		apiService: plan.APIService().String(), node: plan.Node().String(),
	}
}

// url returns the URL of the API server.
func (s site) url(p ports) string {
	return "https://" + net.JoinHostPort(s.server, strconv.Itoa(p.apiServer))
}
