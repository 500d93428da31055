package controlplane

import (
	"net"
	"strconv"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// site says where the API server is and what it hands out.
type site struct {
	// server is the address that it listens on.
	server string
	// services is where ClusterIPs come from, apiService the first of them:
	// that of the API server's own Service.
	services, apiService string
	// node is the node's address, empty when there is none.
	node string
}

// alone is the site of a control plane without a node, which nobody reaches
// from beyond the machine's loopback address.
var alone = site{server: loopback, services: "10.96.0.0/16", apiService: "10.96.0.1"}

// besideNode is the site of a control plane that a node has to reach.
func besideNode(plan network.Plan) site {
	return site{
		server: plan.Host().String(), services: plan.Services().String(),
		apiService: plan.APIService().String(), node: plan.Node().String(),
	}
}

// url is that of the API server.
func (s site) url(p ports) string {
	return "https://" + net.JoinHostPort(s.server, strconv.Itoa(p.apiServer))
}
