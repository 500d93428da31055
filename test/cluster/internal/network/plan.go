package network

import (
	"fmt"
	"net/netip"
	"strconv"
)

// Slots is the number of clusters with a node that a machine can run at the same time.
const Slots = 16

// NodeName is the node's name in the API.
const NodeName = "node-1"

// RegistryPort is the port of the registry on the machine's end of the link.
const RegistryPort = 5000

// Plan holds the addresses of the cluster in one slot. They are private addresses that clusters and container engines
// do not use by default.
//
//	10.220.<slot>.0/30     the link between the machine and the node
//	10.221.<16*slot>.0/20  Services
//	10.222.<slot>.0/24     pods
type Plan struct {
	// Slot is in the range from 0 to Slots-1.
	Slot int `json:"slot"`
}

// Link returns the name of the link's end on the machine.
func (p Plan) Link() string { return fmt.Sprintf("llama-node%d", p.Slot) }

// All contains the addresses of every plan.
const All = "10.220.0.0/14"

// Host returns the machine's address on the link, which the API server and the registry use.
func (p Plan) Host() netip.Addr { return p.address(220, p.Slot, 1) }

// Node returns the node's address.
func (p Plan) Node() netip.Addr { return p.address(220, p.Slot, 2) }

// LinkBits is the length of the link's prefix.
const LinkBits = 30

// Services returns the range of ClusterIPs.
func (p Plan) Services() netip.Prefix {
	return netip.PrefixFrom(p.address(221, 16*p.Slot, 0), 20)
}

// APIService returns the ClusterIP of the API server's own Service.
func (p Plan) APIService() netip.Addr { return p.address(221, 16*p.Slot, 1) }

// DNS returns the ClusterIP of the cluster's name server.
func (p Plan) DNS() netip.Addr { return p.address(221, 16*p.Slot, 10) }

// Pods returns the range of pod addresses.
func (p Plan) Pods() netip.Prefix { return netip.PrefixFrom(p.address(222, p.Slot, 0), 24) }

// Registry returns the registry's address as host:port. The machine and the image names in pods use the same address.
func (p Plan) Registry() string { return p.Host().String() + ":" + strconv.Itoa(RegistryPort) }

func (Plan) address(second, third, fourth int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(second), byte(third), byte(fourth)}) //nolint:gosec // a slot is below 16
}
