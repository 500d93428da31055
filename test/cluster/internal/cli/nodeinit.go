package cli

import (
	"context"
	"errors"
	"os"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/nodeinit"
)

// runNodeInit runs the first process of a node's namespaces.
func runNodeInit(_ context.Context, env environment, args []string) error {
	if len(args) > 0 {
		return errors.New("only `cluster up --node` can start this command; run `cluster up --node`")
	}
	return nodeinit.Run(os.Stdin, env.stdout)
}
