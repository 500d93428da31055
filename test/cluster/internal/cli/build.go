package cli

import (
	"context"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/binaries"
)

// assetsVariable names the folder that envtest takes its programs from.
const assetsVariable = "KUBEBUILDER_ASSETS"

func runBuild(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "build", "", "Builds the programs of a control plane from Go modules into the user's cache.\nDoes nothing, in milliseconds, when they are there.")
	name := lineFlag(env, flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	_, err := programs(ctx, env, *name)
	return err
}

func runAssets(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "assets", "", "Prints the folder with etcd, kube-apiserver and kubectl, for KUBEBUILDER_ASSETS, and builds them first\nwhen they are not there. When KUBEBUILDER_ASSETS is set already, prints that and builds nothing.")
	name := lineFlag(env, flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	folder := env.getenv(assetsVariable)
	if folder == "" {
		built, err := programs(ctx, env, *name)
		if err != nil {
			return err
		}
		folder = built
	}
	_, err := fmt.Fprintln(env.stdout, folder)
	return err
}

// programs is the folder with the chosen line's programs, built when needed.
func programs(ctx context.Context, env environment, name string) (string, error) {
	l, err := loadLine(env, name)
	if err != nil {
		return "", err
	}
	folder, err := binaries.DefaultFolder()
	if err != nil {
		return "", err
	}
	return binaries.Cache{Folder: folder, Progress: env.stderr}.Ensure(ctx, l)
}
