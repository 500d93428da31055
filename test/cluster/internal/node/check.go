package node

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// cniFolder is the directory of the network plugins in Debian.
const cniFolder = "/usr/lib/cni"

// wanted lists the files that must exist on the machine for a node, in addition to the built programs.
var wanted = []string{
	"/sbin/ip", "/usr/sbin/runc", "/usr/sbin/nft",
	cniFolder + "/ptp", cniFolder + "/host-local", cniFolder + "/portmap",
}

// Check returns an error if the machine cannot run a node: if the user is not root, or if files are missing. The error
// lists the missing files.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("a node needs root, for its namespaces and network: run this command as root, or without --node to start only a control plane")
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
