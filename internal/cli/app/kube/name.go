package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shownNames is the maximum number of names in a message.
const shownNames = 8

// Name returns the first argument of a command, which is the name of a stack. Without arguments, it returns the name of
// the only stack in the command's namespace. If there are several, the error lists them.
func (c *Cluster) Name(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	stacks, err := c.list(ctx, outline, client.InNamespace(c.Namespace))
	if _, denied := errors.AsType[*Denied](err); denied {
		return "", fmt.Errorf("%w; or name a stack", err)
	}
	switch {
	case err != nil:
		return "", err
	case len(stacks) == 0:
		return "", fmt.Errorf("there is no stack in namespace %q; to list all stacks, run kubectl get llsd -A", c.Namespace)
	case len(stacks) == 1:
		return stacks[0].Name, nil
	}
	var names []string
	for i := range stacks[:min(len(stacks), shownNames)] {
		names = append(names, stacks[i].Name)
	}
	if more := len(stacks) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "", fmt.Errorf("name one of the %d stacks in namespace %q: %s", len(stacks), c.Namespace, strings.Join(names, ", "))
}
