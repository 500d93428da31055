package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/nodeinit"
)

// Namespaces are flags of clone(2) for the new namespaces of the node's first process.
const Namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS |
	syscall.CLONE_NEWIPC

// Link connects the machine with the network namespace of process pid, in the first free slot. The kernel removes the
// link and its routes together with the namespace.
func Link(ctx context.Context, pid int) (network.Plan, error) {
	plan, err := takeSlot(ctx, pid)
	if err != nil {
		return plan, err
	}
	for _, arguments := range []string{
		fmt.Sprintf("address add %s/%d dev %s", plan.Host(), network.LinkBits, plan.Link()),
		fmt.Sprintf("link set %s up", plan.Link()),
		fmt.Sprintf("route add %s via %s", plan.Services(), plan.Node()),
		fmt.Sprintf("route add %s via %s", plan.Pods(), plan.Node()),
	} {
		if err := ip(ctx, arguments); err != nil {
			return plan, err
		}
	}
	return plan, nil
}

// takeSlot creates the link in the first free slot. The kernel rejects a second link with the same name.
func takeSlot(ctx context.Context, pid int) (network.Plan, error) {
	for slot := range network.Slots {
		plan := network.Plan{Slot: slot}
		if taken(plan) {
			continue
		}
		err := ip(ctx, fmt.Sprintf("link add %s type veth peer name %s netns %s", plan.Link(), nodeinit.Device, strconv.Itoa(pid)))
		if err == nil {
			return plan, nil
		}
		if !taken(plan) { // the command did not fail because a concurrent caller took the slot
			return plan, err
		}
	}
	return network.Plan{}, fmt.Errorf("%d clusters with a node are already running on this machine: stop one with `cluster down`", network.Slots)
}

func taken(plan network.Plan) bool {
	_, err := net.InterfaceByName(plan.Link())
	return err == nil
}

// ip runs the ip command of iproute2.
func ip(ctx context.Context, arguments string) error {
	out, err := exec.CommandContext(ctx, "/sbin/ip", strings.Fields(arguments)...).CombinedOutput()
	if err != nil {
		return errors.Join(fmt.Errorf("running ip %s: %w", arguments, err), errors.New(strings.TrimSpace(string(out))))
	}
	return nil
}
