package controlplane

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the components that Options.With may hold.
const (
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
)

// Options are the choices of a control plane.
type Options struct {
	// Programs is the folder with the programs.
	Programs string
	// Port is the API server's port on 127.0.0.1; 0 takes a free one.
	Port int
	// With lists what runs beside etcd and the API server. Nothing creates
	// pods, service accounts or deletes garbage without the controller
	// manager; nothing places pods without the scheduler.
	With []string
	// AuditLog makes the API server write every request to log/audit.log.
	AuditLog bool
	// Node lists the folders with the programs of a node; without any there is
	// no node, and pods stay Pending. A node needs root.
	Node []string
}

// ParseWith reads a comma-separated list of components; "" is none of them.
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

// String shows the options, for comparison and for people.
func (o Options) String() string {
	return fmt.Sprintf("programs=%s port=%d with=%s audit-log=%t node=%s", o.Programs, o.Port, strings.Join(o.With, ","), o.AuditLog, strings.Join(o.Node, ","))
}
