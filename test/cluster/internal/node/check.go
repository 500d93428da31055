package node

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// cniFolder is the directory of the network plugins in Debian.
const cniFolder = "/usr/lib/cni"

// wanted lists the files of the machine that a node needs, in addition to the built programs.
var wanted = []string{
	"/sbin/ip", "/usr/sbin/runc", "/usr/sbin/nft",
	cniFolder + "/ptp", cniFolder + "/host-local", cniFolder + "/portmap",
}

// Check returns an error that lists the files that are missing on the machine for a node.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("a node needs root, for its namespaces and network: run this as root, or without --node for a control plane alone")
	}
	var missing []string
	for _, file := range wanted {
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, file)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("a node needs %s: run hack/node-packages", strings.Join(missing, ", "))
	}
	return nil
}
