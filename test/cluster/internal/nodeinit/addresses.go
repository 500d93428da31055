package nodeinit

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// Device is the name of the link's end in the node.
const Device = "eth0"

// addAddresses sets up the node's end of the link and allows packets between it and the pods.
func addAddresses(plan network.Plan) error {
	for _, arguments := range []string{
		"link set lo up",
		fmt.Sprintf("address add %s/%d dev %s", plan.Node(), network.LinkBits, Device),
		"link set " + Device + " up",
		fmt.Sprintf("route add default via %s", plan.Host()),
	} {
		out, err := exec.Command("/sbin/ip", strings.Fields(arguments)...).CombinedOutput() //nolint:noctx // ends in milliseconds
		if err != nil {
			return fmt.Errorf("running ip %s: %w\n%s", arguments, err, out)
		}
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1\n"), 0o600); err != nil {
		return fmt.Errorf("allowing packets through the node: %w", err)
	}
	// The kernel removes the link only after it has given up the connections of killed processes. By default, it repeats
	// their last packets for more than a minute.
	if err := os.WriteFile("/proc/sys/net/ipv4/tcp_orphan_retries", []byte("1\n"), 0o600); err != nil {
		return fmt.Errorf("limiting the connections of killed processes: %w", err)
	}
	return nil
}
