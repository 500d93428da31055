package controlplane

import (
	"fmt"
	"slices"
	"strings"
)

// These are the names of the components that Options.With may contain.
const (
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
)

// Options are the options of a control plane.
type Options struct {
	// Programs is the directory with the programs.
	Programs string
	// Port is the API server's port. If it is zero, Run chooses a free port.
	Port int
	// With lists the components that run in addition to etcd and the API server. Without the controller manager, no pods
	// or service accounts are created, and garbage collection does not run. Without the scheduler, pods are not scheduled.
	With []string
	// AuditLog makes the API server write every request to log/audit.log.
	AuditLog bool
	// Node lists the directories with the programs of a node. If it is empty, there is no node, and pods remain
	// Pending. A node requires root.
	Node []string
}

// ParseWith parses a comma-separated list of components. The list may be empty.
func ParseWith(text string) ([]string, error) {
	var with []string
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); name {
		case "":
		case ControllerManager, Scheduler:
			if !slices.Contains(with, name) {
				with = append(with, name)
			}
		default:
			return nil, fmt.Errorf("unknown component %q: use %s, %s, both or neither", name, ControllerManager, Scheduler)
		}
	}
	slices.Sort(with)
	return with, nil
}

// Programs returns the names of the programs in Options.Programs that a control plane with these components starts.
func Programs(with []string) []string {
	programs := []string{"etcd", "kube-apiserver"}
	for _, name := range with {
		programs = append(programs, "kube-"+name)
	}
	return programs
}

// String returns the options in readable form. `up` also uses this string to compare options.
func (o Options) String() string {
	return fmt.Sprintf("programs=%s port=%d with=%s audit-log=%t node=%s", o.Programs, o.Port, strings.Join(o.With, ","), o.AuditLog, strings.Join(o.Node, ","))
}
